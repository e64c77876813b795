"""Fit models, score them beside ridge regression, and read the rules of one.

The data comes with scikit-learn: Friedman's first problem, which is nonlinear, and ten measurements of 442 diabetes
patients with the progression of the disease after a year, which is nearly linear; and the chemistry of 178 wines.
"""

from sklearn.datasets import load_diabetes, load_wine, make_friedman1
from sklearn.linear_model import RidgeCV
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TSKRegressor
from takagi.inspection import check_rules


def compare_with_ridge(name, X, y):
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    fuzzy = TSKRegressor(random_state=0).fit(X_train, y_train)
    ridge = make_pipeline(StandardScaler(), RidgeCV()).fit(X_train, y_train)
    errors = [root_mean_squared_error(y_test, model.predict(X_test)) for model in (fuzzy, ridge)]
    print(f"{name:12s} {errors[0]:10.2f} {errors[1]:10.2f} {errors[0] / errors[1]:8.2f}")


X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)

print("test RMSE        takagi      ridge    ratio")
compare_with_ridge("friedman 1", *make_friedman1(2000, noise=1.0, random_state=0))
compare_with_ridge("diabetes", X, y)

wine = load_wine(as_frame=True).data
model = TSKRegressor(n_rules=2, max_terms=3, random_state=0).fit(wine.drop(columns="proline"), wine["proline"])
print("\nTwo short rules for the proline in 178 wines, each true by itself\n")
print(model.model_)
print()
print(check_rules(model, wine.drop(columns="proline"), wine["proline"]))
