"""Say why one row gets its prediction: the rules that fire, and what each column adds to the average.

The contributions add up to the prediction. ``python examples/04_explain_a_prediction.py picture.png`` writes the
picture.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from takagi import TSKRegressor
from takagi.inspection import explain_local

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = TSKRegressor(n_rules=4, recipe="droprule", random_state=0).fit(X, y.rename("progression"))

patient = model.predict(X).argmax()
explanation = explain_local(model, X)[patient]
print(explanation)

display = explanation.plot()
display.figure_.suptitle("The patient with the highest prediction", fontsize="medium")
if len(sys.argv) > 1:
    display.figure_.savefig(sys.argv[1], dpi=150)
else:
    plt.show()
