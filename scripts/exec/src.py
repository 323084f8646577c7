"""SRC (Wright et al., TPAMI 2009), as in methods/represent/src.go: min 0.5||y - Xs||^2 + lambda |s|_1."""

import numpy as np

import ssdl_exec

task = ssdl_exec.Task()
X, labels = task.labelled()
G, R, penalty = X.T @ X, X.T @ task.test, task.params["lambda"]
square = np.maximum(np.diag(G), 1e-300)
S = np.zeros_like(R)
for _ in range(10000):  # coordinate descent, all test samples at once
    change = 0.0
    for i in range(len(G)):
        r = R[i] - G[i] @ S + square[i] * S[i]
        s = np.sign(r) * np.maximum(np.abs(r) - penalty, 0) / square[i]
        change = max(change, np.abs(s - S[i]).max())
        S[i] = s
    if change < 1e-6:
        break
scores = np.full((task.classes, R.shape[1]), np.inf)
for c in np.unique(labels):
    of = labels == c
    scores[c] = np.linalg.norm(task.test - X[:, of] @ S[of], axis=0)
ssdl_exec.predict(scores.argmin(axis=0))
