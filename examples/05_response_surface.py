"""Draw the prediction over two columns, as a contour with the data and as a surface.

The target is ``10 sin(pi x0 x1)`` plus other terms; x0 and x1 are taken from a band, so that the model has seen only a
part of the square. Where it has seen nothing the picture is faded.

``python examples/05_response_surface.py picture.png`` writes it.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from takagi import TSKRegressor
from takagi.inspection import ResponseDisplay

X, y = make_friedman1(3000, n_features=5, noise=0.5, random_state=0)
seen = abs(X[:, 0] - X[:, 1]) < 0.4
X, y = X[seen], y[seen]
model = TSKRegressor(n_rules=16, random_state=0).fit(X, y)

figure = plt.figure(figsize=(11, 4.4), layout="constrained")
ResponseDisplay.from_estimator(model, X, [0, 1], ax=figure.add_subplot(1, 2, 1))
ResponseDisplay.from_estimator(model, X, [0, 1], kind="surface", ax=figure.add_subplot(1, 2, 2, projection="3d"))
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=150)
else:
    plt.show()
