"""A fit at the paper's settings at Abalone's size against plain NumPy and, per sample visited, PyTSK and highfis.

    python benchmarks/fit.py [--quick] [--repeats N] [--no-peers]

2,924 training rows, 627 validation rows, 7 features, 16 rules; 1,000 iterations of 64 rows, validation after each. The
real file is used where ../shared/datasets is, else synthetic rows of that size. A sample visited is one row that passes
forward and backward once. The peers run some epochs without validation, in batches of 64 rows and of their own size;
the time of one epoch, with all that `fit` does once, is subtracted. So they are compared with our training as the paper
has it, and with our training without validation, which is like against like. One thread each, all by turns.
"""

from _measure import (  # first: it limits the threads
    Contestants,
    count_runs,
    judge,
    parse_arguments,
    print_table,
    slope,
    time_by_turns,
    time_once,
)

# isort: split
import numpy as np

from _peers import PEERS, Peer
from _problem import BATCH_SIZE, KEEP_PROB, Problem, make_abalone
from numpy_training import make_contestants, verify
from takagi import TrainConfig, train
from takagi.experiments import paper_algorithm

NUMPY_TARGET, PEER_TARGET = 4, 30
OURS, OURS_PLAIN, OURS_WHOLE, NUMPY = "takagi.train", "takagi.train, no validation", "takagi, whole fit", "plain NumPy"


def make_takagi_runs(problem: Problem, n_iter: int) -> Contestants:
    """Return training without validation, and the whole fit of the estimator, clustering and checks included."""
    X, y, X_val, y_val, start = problem
    config = TrainConfig(max_iter=n_iter, keep_prob=KEEP_PROB)
    model = paper_algorithm("FCM-RDpA", n_rules=start.n_rules, random_state=0).set_params(max_iter=n_iter)
    return {
        OURS_PLAIN: lambda: train(start, X, y, None, None, config, rng=np.random.default_rng(0)),
        OURS_WHOLE: lambda: model.fit(X, y, X_val=X_val, y_val=y_val),
    }


def run_peer(peer: Peer, problem: Problem, n_epochs: int) -> int:
    """Train a peer for some epochs and return the samples it visited."""
    return peer.run(problem.X, problem.y, problem.start.n_rules, peer.batch_size, n_epochs)


def find_peers(problem: Problem, n_epochs: int) -> dict[Peer, int]:
    """Warm the installed peers up; return their samples visited from the second epoch on."""
    visited = {}
    for peer in PEERS:
        try:
            visited[peer] = -run_peer(peer, problem, 1) + run_peer(peer, problem, n_epochs)
        except ImportError:
            print(f"{peer.name} is not installed: pip install torch==2.13.0 && pip install {peer.package}")
    return visited


def print_costs(runs: list[tuple[str, object, int, float]]) -> dict[str, float]:
    """Print runs (name, batch size, samples, seconds) beside our two; return microseconds per sample."""
    cost = {name: seconds / n_samples * 1e6 for name, _, n_samples, seconds in runs}
    lines = []
    for name, batch, n_samples, seconds in runs:
        ratios = [f"{cost[name] / cost[unit]:.1f}" for unit in (OURS, OURS_PLAIN)]
        lines.append([name, batch, n_samples, f"{seconds:.3f}", f"{cost[name]:.3f}", *ratios])
    print_table(["training", "batch", "samples", "seconds", "us/sample", "/ takagi", "/ takagi, no validation"], lines)
    return cost


def judge_costs(cost: dict[str, float], peers: dict[Peer, int]) -> None:
    """Say whether the targets are met; for the peers, by the fastest of them."""
    ratio = cost[NUMPY] / cost[OURS]
    judge("plain NumPy over takagi", f"{ratio:.1f}", f"{NUMPY_TARGET}", ratio >= NUMPY_TARGET)
    for unit in (OURS, OURS_PLAIN) if peers else ():
        fastest = min((peer.name for peer in peers), key=cost.__getitem__)
        ratio = cost[fastest] / cost[unit]
        judge(f"{fastest} over {unit}, per sample", f"{ratio:.0f}", f"{PEER_TARGET}", ratio >= PEER_TARGET)


def main() -> None:
    """Print the table and whether the targets are met."""
    options = {"no-peers": {"action": "store_true", "help": "leave PyTSK and highfis out"}}
    arguments = parse_arguments(__doc__, 15, **options)
    n_iter, n_epochs = (300, 3) if arguments.quick else (1000, 11)
    problem, data = make_abalone()
    verify(problem)
    peers = {} if arguments.no_peers else find_peers(problem, n_epochs)
    contestants = make_contestants(problem, n_iter) | make_takagi_runs(problem, n_iter)
    for peer in peers:
        contestants |= count_runs(peer.name, lambda count, peer=peer: run_peer(peer, problem, count), n_epochs)
    print(f"first fit (loads from numba's cache or compiles): {time_once(contestants[OURS_WHOLE]):.2f} s")
    seconds = time_by_turns(contestants, arguments.repeats)

    print(f"\n{data}, {n_iter} iterations, validation after each; one thread, best of {arguments.repeats} by turns")
    runs = [(name, BATCH_SIZE, n_iter * BATCH_SIZE, seconds[name]) for name in (OURS, OURS_PLAIN, OURS_WHOLE, NUMPY)]
    for peer, n_samples in peers.items():
        spent = slope(seconds, peer.name, n_epochs) * (n_epochs - 1)
        runs.append((peer.name, peer.batch_size or "default", n_samples, spent))
    cost = print_costs(runs)
    print()
    judge_costs(cost, peers)


if __name__ == "__main__":
    main()
