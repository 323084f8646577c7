% CRC (Zhang, Yang, Feng, ICCV 2011), as in methods/represent/crc.go with rule ratio.
addpath(fileparts(mfilename("fullpath")));
task = ssdl_exec();
X = task.X(:, task.labels >= 0);
labels = task.labels(task.labels >= 0);
S = (X' * X + task.params.lambda * eye(columns(X))) \ (X' * task.test);
scores = Inf(task.classes, columns(task.test));
for c = unique(labels)
  of = labels == c;
  scores(c + 1, :) = norm(task.test - X(:, of) * S(of, :), "columns") ./ norm(S(of, :), "columns");
end
scores(isnan(scores)) = Inf;
[~, best] = min(scores);
ssdl_exec(best - 1);
