#!/usr/bin/env python3
"""Convert a MATLAB v7.3 (HDF5) file with fea and gnd into a data set folder.

    python3 scripts/mat73_to_npy.py stanford40.mat data/stanford40

Needs numpy and h5py. Older .mat files need no conversion: ssdl reads them.
"""
import pathlib
import sys

import h5py
import numpy as np


def main(source, target):
    with h5py.File(source, "r") as f:
        for name in ("fea", "gnd"):
            if name not in f:
                sys.exit(f"{source}: no variable {name}, only {', '.join(f)}")
        fea, gnd = np.asarray(f["fea"]), np.asarray(f["gnd"]).ravel()
    if fea.ndim != 2 or len(gnd) not in fea.shape:
        sys.exit(f"{source}: fea is {fea.shape} and gnd has {len(gnd)} labels; want one label per sample")
    if fea.shape[0] != len(gnd):  # HDF5 stores MATLAB's columns as rows
        fea = fea.T
    if gnd.min() < 1 or np.any(gnd != np.round(gnd)):
        sys.exit(f"{source}: gnd must be whole numbers from 1")
    out = pathlib.Path(target)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "features.npy", np.ascontiguousarray(fea))
    np.save(out / "labels.npy", (gnd - 1).astype(np.int32))
    print(f"{out}: {fea.shape[0]} samples x {fea.shape[1]} features, {len(np.unique(gnd))} classes")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
