"""See which columns matter, in the conditions of the rules and in their formulas, beside permutation importance.

Of the ten columns only the first five enter the target: x0 and x1 by a product, x2 by a square, x3 and x4 as they are.
``python examples/06_what_matters.py picture.png`` writes the picture.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from takagi import TSKRegressor
from takagi.inspection import ImportanceDisplay

X_train, X_test, y_train, y_test = train_test_split(*make_friedman1(3000, noise=1.0, random_state=0), random_state=0)
model = TSKRegressor(n_rules=16, random_state=0).fit(X_train, y_train)

display = ImportanceDisplay.from_estimator(model, X_test, y_test, random_state=0)
print(display.table.round(2).to_string(index=False))
if len(sys.argv) > 1:
    display.figure_.savefig(sys.argv[1], dpi=150)
else:
    plt.show()
