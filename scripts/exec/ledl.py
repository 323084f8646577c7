"""LEDL (Shao et al., Neurocomputing 2020), as methods/dictionary/ledl.go describes it. The start is drawn
by numpy, so that atoms differ from those of the program."""

import numpy as np

import ssdl_exec

task = ssdl_exec.Task()
weights = {"lambda": 2**-6, "omega": 2**-6, "epsilon": 2**-12, "rho": 1.0, "iterations": 10} | task.params
lam, omega, epsilon, rho = (weights[name] for name in ("lambda", "omega", "epsilon", "rho"))
iterations = int(weights["iterations"])
X, labels = task.labelled()
K = X.shape[1]
known = np.unique(labels)
of_atom = known[np.arange(K) * len(known) // K]
H = np.eye(task.classes)[:, labels]
Q = H[of_atom]
random = np.random.default_rng(task.seed)


def unit(A):
    return A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)


def start(rows):
    A = random.random((rows, K)) - 0.5
    return unit(A - A.mean(axis=0))


def pass_over_codes(system, right, S, Z, delta, step, keep):
    S[:] = np.linalg.solve(system, right + rho * Z - delta)
    t = S + delta / rho
    Z[:] = np.sign(t) * np.maximum(np.abs(t) - epsilon / rho, 0)
    delta[:] = keep * delta + step * (S - Z)


def pass_over_atoms(A, V, P):
    """A (rows x K) is the best on the unit sphere, a column at a time; V = S T' and P = S S'."""
    for k in range(K):
        a = V[k] - P[k] @ A.T + P[k, k] * A[:, k]
        size = np.linalg.norm(a)
        if size > 1e-12:
            A[:, k] = a / size


D, W, A = start(X.shape[0]), start(task.classes), start(K)
S, Z, delta = (np.zeros((K, K)) for _ in range(3))
step = 0.5
for _ in range(iterations):
    system = D.T @ D + lam * W.T @ W + omega * A.T @ A + rho * np.eye(K)
    right = D.T @ X + lam * W.T @ H + omega * A.T @ Q
    pass_over_codes(system, right, S, Z, delta, step, 1)
    step = max(1e-4, 0.99 * step)
    P = S @ S.T
    for atoms, target in ((D, X), (W, H), (A, Q)):
        pass_over_atoms(atoms, S @ target.T, P)

system, right = D.T @ D + rho * np.eye(K), D.T @ task.test
S, Z, delta = (np.zeros_like(right) for _ in range(3))
step = 0.5
for _ in range(10):
    pass_over_codes(system, right, S, Z, delta, step, 1 - step)
    step = max(1e-4, 0.99 * step)
scores = W @ S
ssdl_exec.predict(known[scores[known].argmax(axis=0)])
