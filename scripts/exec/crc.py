"""CRC (Zhang, Yang, Feng, ICCV 2011), as in methods/represent/crc.go with rule ratio."""

import numpy as np

import ssdl_exec

task = ssdl_exec.Task()
X, labels = task.labelled()
S = np.linalg.solve(X.T @ X + task.params["lambda"] * np.eye(X.shape[1]), X.T @ task.test)
scores = np.full((task.classes, task.test.shape[1]), np.inf)
for c in np.unique(labels):
    of = labels == c
    residual = np.linalg.norm(task.test - X[:, of] @ S[of], axis=0)
    size = np.linalg.norm(S[of], axis=0)
    np.divide(residual, size, out=scores[c], where=size > 0)
ssdl_exec.predict(scores.argmin(axis=0))
