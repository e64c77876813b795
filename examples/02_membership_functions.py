"""Draw the membership functions of the rules over the data.

``python examples/02_membership_functions.py picture.png`` writes the picture of the README.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from takagi import TSKRegressor
from takagi.inspection import MembershipDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["bmi", "bp", "s5"]].rename(columns={"bp": "blood_pressure", "s5": "log_triglycerides"})
model = TSKRegressor(n_rules=3, recipe="droprule", random_state=0).fit(X, y.rename("progression"))

display = MembershipDisplay.from_estimator(model, X)
display.figure_.suptitle("What three rules mean by their conditions", fontsize="medium")
if len(sys.argv) > 1:
    display.figure_.savefig(sys.argv[1], dpi=150)
else:
    plt.show()
