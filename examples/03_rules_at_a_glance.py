"""See all rules at once: their conditions, their shares of the data, and their outputs.

An empty cell means that the rule has no condition on the column.
``python examples/03_rules_at_a_glance.py picture.png`` writes the picture.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from takagi import TSKRegressor
from takagi.inspection import RuleGridDisplay

NAMES = {"bp": "blood pressure", "s1": "cholesterol", "s3": "HDL", "s5": "log triglycerides", "s6": "glucose"}

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X.rename(columns=NAMES)[["age", "bmi", *NAMES.values()]]
model = TSKRegressor(n_rules=6, recipe="droprule", random_state=0).fit(X, y.rename("progression"))

display = RuleGridDisplay.from_estimator(model, X)
if len(sys.argv) > 1:
    display.figure_.savefig(sys.argv[1], dpi=150)
else:
    plt.show()
