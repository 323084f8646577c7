#!/usr/bin/env python3
"""Measures our coding, dictionary update, label propagation and products against scikit-learn's
and numpy's, on the same matrices of real features, in turns, and prints the ratios as Markdown.

    scripts/peers/peers.py --data DIR [--out FILE] [--rounds 3] [--quick]

DIR holds the sets sports8 and stanford40. Needs Go, and Debian's python3-sklearn or
`pip install scikit-learn`. The first table has CPU seconds of the working process, on one
thread; the second has wall seconds on two threads, and needs an otherwise idle machine.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy is imported

try:
    import numpy as np
    import sklearn
    import sklearn.decomposition
    import sklearn.exceptions
    from sklearn.decomposition import _dict_learning
    from sklearn.linear_model import Lasso, _cd_fast
    from sklearn.semi_supervised import LabelSpreading
    from threadpoolctl import threadpool_info, threadpool_limits
except ImportError as err:
    sys.exit(f"peers.py: {err}. Install scikit-learn: apt-get install python3-sklearn, "
             "or pip install scikit-learn; then run it with that Python.")

SIZES = (1105, 2048, 3336)


class Ours:
    """The Go process; it runs a part for each line that it reads."""

    def __init__(self, data, folder):
        here = os.path.dirname(os.path.abspath(__file__))
        program = os.path.join(folder, "ours")
        subprocess.run(["go", "build", "-o", program, "./ours"], cwd=here, check=True)
        self.process = subprocess.Popen(
            [program, "-data", data, "-out", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "GOMAXPROCS": "1"})
        self.folder = folder
        self.info = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("peers.py: our side ended; its message is above")
        return json.loads(line)

    def run(self, part):
        self.process.stdin.write(part + "\n")
        self.process.stdin.flush()
        return self.answer()

    def matrix(self, name, shape=None):
        shape = shape or self.info[name]
        return np.fromfile(os.path.join(self.folder, name + ".f64")).reshape(shape)


def cpu(f):
    """CPU seconds of f, and its result."""
    start = time.process_time()
    result = f()
    return time.process_time() - start, result


def wall(f):
    """Wall seconds of f, and its result."""
    start = time.perf_counter()
    result = f()
    return time.perf_counter() - start, result


def in_turns(ours, part, peer, rounds, peer_rounds=None, clock=cpu):
    """Medians of seconds of ours and of the peer, and the last answers of both."""
    mine, theirs = [], []
    answer = result = None
    for i in range(rounds):
        answer = ours.run(part)
        mine.append(answer["CPU" if clock is cpu else "Wall"])
        if i < (peer_rounds or rounds):
            seconds, result = clock(peer)
            theirs.append(seconds)
    return statistics.median(mine), statistics.median(theirs), answer, result


def gaps(D, X, S, alpha):
    """Relative duality gaps of the codes S of 0.5||x - Ds||^2 + alpha|s|_1, a column each."""
    E = X - D @ S
    G = D.T @ E
    c = np.minimum(1, alpha / np.abs(G).max(axis=0))
    residual, l1 = (E**2).sum(axis=0), np.abs(S).sum(axis=0)
    slack = np.maximum(alpha * np.abs(S) - c * S * G, 0).sum(axis=0)
    return (0.5 * (1 - c) ** 2 * residual + slack) / (0.5 * residual + alpha * l1)


def solved(D, X, alpha, tol):
    """Lasso codes of scikit-learn at another tolerance than sparse_encode has; it is relative
    to |x|^2, and not to the objective, which is hundreds of times less here."""
    dim, k = D.shape
    D = np.asfortranarray(D)
    model = Lasso(alpha=alpha / dim, fit_intercept=False, precompute=D.T @ D, tol=tol, max_iter=100000)
    S = np.empty((k, X.shape[1]))
    for j in range(X.shape[1]):
        S[:, j] = model.fit(D, X[:, j]).coef_
    return S


def sweeps(G, R, alpha):
    """One pass of scikit-learn's coordinate descent from zero for each column of R."""
    rng = np.random.RandomState(0)
    k, n = R.shape
    G, S = np.ascontiguousarray(G), np.zeros((n, k))
    y = np.ones(1)
    for j in range(n):
        _cd_fast.enet_coordinate_descent_gram(
            S[j], alpha, 0.0, G, np.ascontiguousarray(R[:, j]), y, 1, 0.0, rng, False, False)
    return S.T


def gemm(size):
    rng = np.random.default_rng(1)
    A, B, C = rng.random((size, size)), rng.random((size, size)), np.empty((size, size))
    np.matmul(A, B, out=C)
    return lambda: np.matmul(A, B, out=C)


def product_process(core):
    """A Python process that multiplies on demand, with a given core type for OpenBLAS."""
    program = (
        "import sys,time,numpy as np\n"
        "from threadpoolctl import threadpool_info\n"
        "print(','.join(i.get('architecture','?') for i in threadpool_info() if i['user_api']=='blas'),flush=True)\n"
        "M={}\n"
        "for line in sys.stdin:\n"
        "    n=int(line)\n"
        "    if n not in M:\n"
        "        r=np.random.default_rng(1);M[n]=(r.random((n,n)),r.random((n,n)),np.empty((n,n)));np.matmul(*M[n][:2],out=M[n][2])\n"
        "    t=time.process_time();np.matmul(*M[n][:2],out=M[n][2]);print(time.process_time()-t,flush=True)\n")
    env = dict(os.environ)
    if core:
        env["OPENBLAS_CORETYPE"] = core
    p = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    name = p.stdout.readline().strip()

    def run(size):
        p.stdin.write(f"{size}\n")
        p.stdin.flush()
        return float(p.stdout.readline())
    return name, run


def processor():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            return next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown processor"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--data", default=os.environ.get("SSDL_DATA", "data"))
    args.add_argument("--out", help="file for the table (default: standard output)")
    args.add_argument("--rounds", type=int, default=3)
    args.add_argument("--quick", action="store_true", help="fewer samples for the slow peers, scaled up")
    args = args.parse_args()
    warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)  # the gaps are in the table

    lines = []
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(os.path.abspath(args.data), folder)
        info = ours.info
        alpha = info["alpha"]
        X, D, G, R = (ours.matrix(n) for n in "XDGR")
        k, n = D.shape[1], X.shape[1]

        def row(what, mine, theirs, peer, note="", table=lines):
            line = f"| {what} | {mine:.3g} | {theirs:.3g} | {peer} | **{theirs / mine:.3g} x** | {note} |"
            print(line, file=sys.stderr, flush=True)
            table.append(line)

        # Lasso: the peer's own stop, at its default tolerance.
        part = n // 8 if args.quick else n
        mine, theirs, answer, code = in_turns(
            ours, "lasso",
            lambda: sklearn.decomposition.sparse_encode(
                X.T[:part], D.T, algorithm="lasso_cd", alpha=alpha, max_iter=1000),
            args.rounds, 1)
        g1 = gaps(D, X, ours.matrix("codes", (k, n)), alpha)
        g2 = gaps(D, X[:, :part], code.T, alpha)
        row(f"Lasso codes, {n} samples, K={k}, alpha=2^-12", mine, theirs * n / part, "sparse_encode(lasso_cd)",
            f"worst (median) relative gap {g1.max():.0e} ({np.median(g1):.0e}) and {g2.max():.0e} ({np.median(g2):.0e}); "
            + answer["Note"])
        few = 40 if args.quick else 120
        seconds, code = cpu(lambda: sklearn.decomposition.sparse_encode(
            X.T[:few], D.T, algorithm="lasso_lars", alpha=alpha))
        g3 = gaps(D, X[:, :few], code.T, alpha)
        row("the same", mine, seconds * n / few, "sparse_encode(lasso_lars)",
            f"{few} samples, scaled; worst (median) gap {g3.max():.0e} ({np.median(g3):.0e}): the path ends early")
        few = 8 if args.quick else 24
        seconds, S = cpu(lambda: solved(D, X[:, :few], alpha, 1e-12))
        g4 = gaps(D, X[:, :few], S, alpha)
        row("the same", mine, seconds * n / few, "Lasso(tol=1e-12)",
            f"to a gap like ours: worst (median) {g4.max():.0e} ({np.median(g4):.0e}); {few} samples, scaled")

        t = info["sparsity"]
        mine, theirs, answer, code = in_turns(
            ours, "omp",
            lambda: sklearn.decomposition.sparse_encode(X.T, D.T, algorithm="omp", n_nonzero_coefs=t), args.rounds)
        same = np.mean([set(np.flatnonzero(a)) == set(np.flatnonzero(b))
                        for a, b in zip(ours.matrix("omp", (k, n)).T, code)])
        row(f"Batch OMP, {n} samples, K={k}, T={t}", mine, theirs, "sparse_encode(omp)",
            f"same atoms in {100 * same:.1f} % of the codes")

        mine, theirs, _, _ = in_turns(ours, "sweep", lambda: sweeps(G, R, alpha), args.rounds)
        row(f"One sweep over the codes, {n} samples, K={k}", mine, theirs, "enet_coordinate_descent_gram",
            f"ours at {2e-9 * k * k * n / mine:.0f} GFLOP/s")
        wide_g, wide_r = ours.matrix("wideG"), ours.matrix("wideR")
        wk, wn = wide_r.shape
        part = wn // 8
        mine, theirs, _, _ = in_turns(ours, "widesweep", lambda: sweeps(wide_g, wide_r[:, :part], alpha), args.rounds)
        row(f"One sweep over the codes, {wn} samples, K={wk}", mine, theirs * wn / part, "enet_coordinate_descent_gram",
            f"ours at {2e-9 * wk * wk * wn / mine:.0f} GFLOP/s; the peer on {part} samples, scaled")
        del wide_g, wide_r

        S = sweeps(G, R, alpha)
        dictionary, codes = np.array(D.T, order="C"), np.ascontiguousarray(S.T)
        samples = np.ascontiguousarray(X.T)

        def update():
            A, B = codes.T @ codes, samples.T @ codes
            _dict_learning._update_dict(dictionary.copy(), samples, codes, A, B, random_state=0)

        mine, theirs, _, _ = in_turns(ours, "atoms", update, args.rounds)
        row(f"Dictionary update, dim={X.shape[0]}, K={k}, N={n}", mine, theirs, "_update_dict",
            "the products of the codes included; ours with the classifier and the new Gram matrix as well")

        def iterate():
            gram, r = dictionary @ dictionary.T, dictionary @ X
            sweeps(gram, r, alpha)
            update()

        mine, theirs, _, _ = in_turns(ours, "iterate", iterate, args.rounds)
        row(f"One SSDL iteration, dim={X.shape[0]}, K={k}, N={n}", mine, theirs, "the two above and numpy's products")

        large = ours.matrix("large").T
        labels, truth = np.array(info["labels"]), np.array(info["truth"])

        def spread():
            return LabelSpreading(kernel="knn", n_neighbors=10, alpha=1 / 1.1).fit(large, labels)

        mine, theirs, answer, model = in_turns(ours, "propagation", spread, args.rounds)
        hidden = labels < 0
        row(f"Label propagation, N={large.shape[0]}, C={info['classes']}", mine, theirs, "LabelSpreading(knn)",
            f"right on {answer['Note']}, the peer's on {100 * np.mean(model.transduction_[hidden] == truth[hidden]):.1f} %")

        products = [product_process(None), product_process("SKYLAKEX")]
        for size in SIZES:
            ours.run(f"dgemm{size}")  # the others have multiplied once as well
            mine, blas = [], [[] for _ in products]
            for _ in range(args.rounds + 2):
                mine.append(ours.run(f"dgemm{size}")["CPU"])
                for list_, (_, multiply) in zip(blas, products):
                    list_.append(multiply(size))
            gonum = ours.run(f"gonum{size}")["CPU"]
            mine = statistics.median(mine)
            rate = 2e-9 * size**3 / mine
            for list_, (core, _) in zip(blas, products):
                row(f"Dgemm {size}", mine, statistics.median(list_), f"OpenBLAS, {core} kernel", f"ours at {rate:.0f} GFLOP/s")
            row(f"Dgemm {size}", mine, gonum, "gonum")

        # Wall time on two threads, where the peer has a use for them. The last column shows
        # whether the machine had two to give.
        twice = []
        ours.run("threads 2")
        with threadpool_limits(2, user_api="blas"):
            def both(what, part, peer, name, scale=1, peer_rounds=None, note=""):
                mine, theirs, answer, _ = in_turns(ours, part, peer, args.rounds, peer_rounds, clock=wall)
                busy = f"ours kept {answer['CPU'] / answer['Wall']:.2f} processors busy"
                row(what, mine, theirs * scale, name, f"{note}; {busy}" if note else busy, twice)

            part = n // 16 if args.quick else n // 8
            both(f"Lasso codes, {n} samples, K={k}, alpha=2^-12", "lasso",
                 lambda: sklearn.decomposition.sparse_encode(
                     X.T[:part], D.T, algorithm="lasso_cd", alpha=alpha, max_iter=1000, n_jobs=2),
                 "sparse_encode(lasso_cd, n_jobs=2)", n / part, 1, f"the peer on {part} samples, scaled; gaps as above")
            both(f"One SSDL iteration, dim={X.shape[0]}, K={k}, N={n}", "iterate", iterate, "as above",
                 note="of the peer only the products use both")
            both(f"Label propagation, N={large.shape[0]}, C={info['classes']}", "propagation",
                 lambda: LabelSpreading(kernel="knn", n_neighbors=10, alpha=1 / 1.1, n_jobs=2).fit(large, labels),
                 "LabelSpreading(knn, n_jobs=2)")
            for size in SIZES:
                both(f"Dgemm {size}", f"dgemm{size}", gemm(size), "OpenBLAS")

    versions = f"{info['go']}, kernel {info['blas']}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    core = ", ".join(sorted({f"{i['internal_api']} {i['version']}" for i in threadpool_info() if i["user_api"] == "blas"}))
    text = "\n".join([
        f"`scripts/peers/peers.py {' '.join(sys.argv[1:])}`, {datetime.date.today()}: {processor()}; {versions}, {core}.",
        "Medians of runs in turns; the ratio is the peer's time over ours. CPU seconds, one thread:", "",
        "| part | ours | peer | which | ratio | |", "|---|---|---|---|---|---|", *lines, "",
        f"Wall seconds, two threads of {os.cpu_count()}:", "",
        "| part | ours | peer | which | ratio | |", "|---|---|---|---|---|---|", *twice, ""])
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
