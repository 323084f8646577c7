# CRC (Zhang, Yang, Feng, ICCV 2011), as in methods/represent/crc.go with rule ratio.
source(file.path(dirname(sub("--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "ssdl_exec.R"))
X <- read_npy("X_train.npy")
labels <- read_npy("labels.npy")
test <- read_npy("X_test.npy")
X <- X[, labels >= 0, drop = FALSE]
labels <- labels[labels >= 0]
S <- solve(crossprod(X) + number("lambda") * diag(ncol(X)), crossprod(X, test))
scores <- matrix(Inf, number("classes"), ncol(test))
for (c in unique(labels)) {
  of <- labels == c
  residual <- test - X[, of, drop = FALSE] %*% S[of, , drop = FALSE]
  scores[c + 1, ] <- sqrt(colSums(residual^2) / colSums(S[of, , drop = FALSE]^2))
}
predict_classes(apply(scores, 2, which.min) - 1)
