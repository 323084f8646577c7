"""SRC (Wright et al., TPAMI 2009), as in methods/represent/src.go: min 0.5||y - Xs||^2 + lambda |s|_1,
here by alternating directions (Boyd et al., 2011), all test samples at once."""

import numpy as np

import ssdl_exec

task = ssdl_exec.Task()
X, labels = task.labelled()
R, penalty, rho = X.T @ task.test, task.params["lambda"], 0.05
inverse = np.linalg.inv(X.T @ X + rho * np.eye(X.shape[1]))
S, U = np.zeros_like(R), np.zeros_like(R)
for _ in range(5000):
    dense = inverse @ (R + rho * (S - U))
    before, S = S, np.sign(dense + U) * np.maximum(np.abs(dense + U) - penalty / rho, 0)
    U += dense - S
    if max(np.abs(S - before).max(), np.abs(S - dense).max()) < 1e-7:
        break
scores = np.full((task.classes, R.shape[1]), np.inf)
for c in np.unique(labels):
    of = labels == c
    scores[c] = np.linalg.norm(task.test - X[:, of] @ S[of], axis=0)
ssdl_exec.predict(scores.argmin(axis=0))
