"""The classifiers of Cui, Wu and Huang (2020) as an estimator: mini-batch gradient descent with two additions."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from takagi._typing import BoolArray, FloatArray, IntArray, Table
from takagi.experiments._mbgd_network import Network, Prices, fire_rules


def measure_balanced(is_right: BoolArray, y: IntArray) -> float:
    """Return the balanced accuracy: the mean over classes of the fraction of correct predictions."""
    return float(np.mean([is_right[y == label].mean() for label in np.unique(y)]))


class MBGDClassifier(ClassifierMixin, BaseEstimator):
    """The TSK classifiers of Cui, Wu and Huang (2020), for reproduction: `paper_algorithm` makes them by name.

    There is one output for each class, even for two classes, and a softmax; the loss is the log loss, the optimizer
    AdaBound. The model is trained five times with a fifth of the rows held out, until their accuracy has not risen for
    `patience` epochs. Then it is trained once with all rows, for the mean of the best numbers of epochs. For your own
    data, use `TSKClassifier`.

    Parameters
    ----------
    n_rules : int, default=20
        Number of rules, at most the number of rows.
    batch_norm : bool, default=True
        Whether the inputs of the consequents are normalized batch by batch.
    uniformities : sequence of float, default=(0.1, 1, 10, 20, 50)
        Candidate weights of uniform regularization; the balanced accuracy on the held-out rows chooses one. (0,) for
        none.
    l2 : float, default=0.05
        Factor of the sum of squared consequent weights, without biases.
    learning_rate : float, default=0.01
    batch_size : int, default=64
    max_epochs : int, default=2000
    patience : int, default=40
        Epochs without improvement after which a training with held-out rows ends.
    n_trials : int, default=5
        Trainings with held-out rows, for each of the uniformities.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray
    centers_, widths_ : ndarray of shape (n_rules, n_features)
        In standardized units.
    consequents_ : ndarray of shape (n_rules, n_classes, 1 + n_features)
        Logits in standardized units, biases first; batch normalization is folded into them.
    uniformity_ : float
        The chosen one.
    n_epochs_ : int
        Epochs of the last training.
    n_features_in_ : int

    Notes
    -----
    Where the sources disagree, this follows the authors' torch code: 1e-8 is added to the sum of firing levels, so rows
    far from all rules get equal probabilities; mean shares are pulled toward 1 / n_classes; the bounds of AdaBound end
    at 0.1. Two mistakes of that code are not copied: it also trains on the rows that it holds out, and it counts epochs
    from 0, so that the last training is one epoch shorter than the best ones.

    References
    ----------
    Y. Cui, D. Wu and J. Huang, Optimize TSK fuzzy systems for classification problems: mini-batch gradient descent with
    uniform regularization and batch normalization, IEEE Transactions on Fuzzy Systems 28(12), 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from takagi.experiments import MBGDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MBGDClassifier(4, uniformities=(1,), n_trials=1, max_epochs=20, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        n_rules: int = 20,
        *,
        batch_norm: bool = True,
        uniformities: Sequence[float] = (0.1, 1, 10, 20, 50),
        l2: float = 0.05,
        learning_rate: float = 0.01,
        batch_size: int = 64,
        max_epochs: int = 2000,
        patience: int = 40,
        n_trials: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_rules = n_rules
        self.batch_norm = batch_norm
        self.uniformities = uniformities
        self.l2 = l2
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.n_trials = n_trials
        self.random_state = random_state

    def fit(self, X: Table, y: Table) -> "MBGDClassifier":
        """Choose the uniformity and the number of epochs with held-out rows, and train with all rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
        y : array of shape (n_rows,)

        Returns
        -------
        MBGDClassifier
        """
        rows, labels = validate_data(self, X, y, dtype=float)
        check_classification_targets(labels)
        self.classes_, y_index = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes, got one class, {self.classes_[0]}.")
        rng = check_random_state(self.random_state)
        self._scaler = StandardScaler().fit(rows)
        Z, Y = self._scaler.transform(rows), np.eye(len(self.classes_))[y_index]
        n_rules = min(self.n_rules, len(np.unique(Z, axis=0)))
        centers = KMeans(n_rules, n_init=1, random_state=rng).fit(Z).cluster_centers_
        trials = [self._try(centers, Z, Y, uniformity, rng) for uniformity in self.uniformities]
        best = int(np.argmax([score for score, _ in trials]))
        self.uniformity_, self.n_epochs_ = float(self.uniformities[best]), trials[best][1]
        epochs = self._train(centers, Z, Y, self.uniformity_, rng)
        for network, _ in zip(epochs, range(self.n_epochs_), strict=False):
            self._rules = network.fold()
        self.centers_, self.widths_ = self._rules.centers, self._rules.widths
        self.consequents_ = self._rules.consequents.transpose(1, 2, 0)
        return self

    def _train(
        self, centers: FloatArray, X: FloatArray, Y: FloatArray, uniformity: float, rng: np.random.RandomState
    ) -> Iterator[Network]:
        """Yield a network after each epoch."""
        network, penalties = Network(centers, Y.shape[1], rng, self.batch_norm), Prices(self.l2, uniformity)
        for _ in range(self.max_epochs):
            network.run_epoch(X, Y, rng.permutation(len(X)), self.batch_size, self.learning_rate, penalties)
            yield network

    def _try(
        self, centers: FloatArray, X: FloatArray, Y: FloatArray, uniformity: float, rng: np.random.RandomState
    ) -> tuple[float, int]:
        """Return mean balanced accuracy and mean number of epochs of the best epochs, with rows held out."""
        found = []
        for _ in range(self.n_trials):
            X_train, X_val, Y_train, Y_val = train_test_split(X, Y, test_size=0.2, random_state=rng)
            y_val, best, score, stop = Y_val.argmax(axis=1), -1.0, 0.0, 0
            for epoch, network in enumerate(self._train(centers, X_train, Y_train, uniformity, rng), start=1):
                is_right = fire_rules(network.fold(), X_val, X_val).value.argmax(axis=1) == y_val
                if (accuracy := is_right.mean()) > best:
                    best, score, stop = accuracy, measure_balanced(is_right, y_val), epoch
                elif epoch - stop > self.patience:
                    break
            found.append((score, stop))
        score, stop = np.mean(found, axis=0)
        return float(score), round(stop)

    def predict_proba(self, X: Table) -> FloatArray:
        """Return the probabilities of the classes, of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        rows = self._scaler.transform(validate_data(self, X, dtype=float, reset=False))
        return softmax(fire_rules(self._rules, rows, rows).value, axis=1)

    def predict(self, X: Table) -> np.ndarray:
        """Return the most probable class of each row."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return self.classes_[chosen]
