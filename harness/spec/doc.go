// Package spec reads experiments: a YAML file says what is run on what, and becomes a list
// of jobs.
//
// # Grammar
//
// A spec is one YAML mapping. This one uses most of what there is:
//
//	name: example                  # letters, digits and . _ + -
//	title: An example              # caption of the table; optional
//	table: table1                  # layout of the report: table1, table2; default a plain list
//	datasets: [stanford40, uiuc-se]
//	seeds: 1000..1007
//	split: {kind: class, train: 0.7, labels: 0.4}
//	metric: accuracy               # the default
//	select: val                    # of the rows that say nothing else; the default
//	rows:
//	  - method: crc
//	    tune: {lambda: {log2: [-12, 2]}}
//	  - id: ssdl
//	    label: SSDL (ours)
//	    method: ssdl
//	    pretext: pahl
//	    select: paper
//	    params: {alpha: 2^-12, gamma: 2^-12}
//	    pretext_params: {p: 2.2, lambda: 0.1}
//	    when:
//	      - datasets: [stanford40, synth40]
//	        params: {alpha: 2^-14}
//	        pretext_params: {p: 1.8}
//	exclude:
//	  - {dataset: stanford40, row: crc, reason: only to show how}
//
// name, datasets, seeds, split and rows are required. The fields of a spec are:
//
//   - seeds: one seed, "1000..1007" (both ends included), "1000,1002..1004", or a list of these.
//   - split: {kind: class, train: share, labels: share} draws both at random within each class;
//     {kind: official, labels: share} takes the training and test part that the data set comes
//     with; {kind: file, file: "splits/sports8-{seed}.json"} takes index files, as `ssdl data
//     split` writes them: {seed} becomes the seed, in quotes since YAML has a meaning for
//     braces. A file without {seed} is the split of all seeds, which then differ only in what
//     methods draw. The path is seen from the folder that the program is called in. labels may
//     be a sweep, {grid: [..]} or {range: [low, high, step]}: every row is then run at every
//     share, and the setting is called label-rate.
//   - tune_seeds: [{datasets: [stanford40], seeds: 1000..1001}] chooses settings on these seeds
//     where all of them would take too long; whatever seeds are run, the choice is that of these.
//   - metric: accuracy, balanced-accuracy or macro-f1; for rows without a method also one of the
//     losses bce, ce_row, ce_softmax. {grid: [..]} over losses shows each row under each of them;
//     the setting is called loss.
//   - score: how pseudo labels reach unseen samples, oos (the default) or transductive, or
//     {grid: [oos, transductive]} for both; the setting is called scoring. It concerns rows
//     without a method, and is an error where there is none.
//   - exclude: cells that are not run, with the reason that the report gives. One that names
//     no row or data set of the spec is an error.
//
// A row names a method of the catalog, a pretext, or both; a method behind a pretext must be
// a learner, which then takes the pretext's pseudo labels in place of the true ones. Its
// fields are all optional but for these names:
//
//   - id: how the row is called; by default the method, the pretext or "pretext+method". Two
//     rows of the same id are an error.
//   - label: the title in the report; by default the catalog's.
//   - role: control, for a row that tests an explanation: in a table of the paper it is not ranked;
//     step, for one that changes one thing of the step above it: steps make a waterfall.
//   - params, pretext_params: values of the parameters. What is not given has its default.
//   - zip, tune, select, when: see below.
//
// # Rows from outside
//
// A row can be a program, or predictions that were made elsewhere, in place of a method of the catalog
// (docs/exec.md):
//
//	rows:
//	  - id: mine
//	    exec: [python3, my.py]       # a program and its arguments; no shell
//	    files: [my.py]               # what it reads beside its task; copied into its folder
//	    params: {lambda: {grid: [0.1, 1]}, rule: plain}
//	  - id: mine-ledl
//	    method: ledl                 # a learner: then the program makes its pseudo labels
//	    exec: [python3, my.py]
//	    files: [my.py]
//	    pretext_params: {k: 5}       # those of the program
//	  - id: theirs
//	    predictions: "preds/{dataset}-{seed}.npy"
//	    splits: "splits/{dataset}-{seed}.json"     # the index files that they were made by
//
// The parameters of a program are those that the row names; a value is a number, true, false or a text.
// A row of predictions has none. Paths are seen from the folder that the program is called in; those of
// files lie below it.
//
// # Values and sweeps
//
// A number is decimal (0.1, 1e-3) or a power with whole base and exponent (2^-14), without
// quotes or leading zeros. A parameter that takes whole numbers refuses others. A sweep in
// place of a value makes one cell of each value, in one of three forms:
//
//	rows:
//	  - method: crc
//	    params: {lambda: {grid: [0.01, 0.1, 2^-4]}}    # these
//	  - method: src
//	    params: {lambda: {range: [0.1, 0.5, 0.1]}}     # low, high (included), step
//	  - pretext: hl
//	    pretext_params: {lambda: {log2: [-8, 0, 2]}}   # 2^-8, 2^-6 .. 2^0; step 1 if left out
//
// The sums of a range are exact: [0.1, 0.5, 0.1] gives 0.3 and not 0.30000000000000004.
// Several sweeps of a row make every combination, the last one in the file varying fastest
// (params, then pretext_params, then zip). A zip varies parameters together; the lists, or
// sweeps, are equally long. There can be a list of zips. In zip and tune a parameter of the pretext is written with the
// prefix "pretext.":
//
//	rows:
//	  - method: ssdl
//	    pretext: pahl
//	    zip: {alpha: [2^-16, 2^-12, 2^-8], gamma: {log2: [-16, -8, 4]}}
//	  - id: ssdl-p
//	    method: ssdl
//	    pretext: pahl
//	    params: {alpha: {grid: [2^-14, 2^-12]}}
//	    zip: {pretext.p: [1.8, 2.2], pretext.lambda: [0.1, 0.3]}
//
// # Selection
//
// tune lists values to choose from, as sweeps; several make every combination, and what a zip in it
// lists (or each of a list of zips) varies together. These are the candidates of a cell, and select says how one is chosen:
//
//   - val: for each seed 20 % of the labelled training samples of each class are held out. The
//     candidate with the best mean validation score over the seeds is taken (the first one on
//     ties) and fitted again on all training samples.
//   - test: the candidate with the best mean score on the test part itself. Such a number is
//     an optimistic one, and is marked † wherever it is shown.
//   - paper: the values are those that the paper prints, and what it is silent about is as the
//     spec says or a default. tune is an error.
//   - fixed: the values are given by the spec or as defaults, not tuned and not the paper's.
//     tune is an error.
//
// Best is highest for accuracy, balanced-accuracy and macro-f1, and lowest for the losses. Candidates are ordered by the
// catalog's order of parameters (the pretext's first) and the order of the values in the
// file, so which one wins a tie does not depend on the order of keys.
//
//	rows:
//	  - pretext: pahl
//	    select: test
//	    tune: {pretext.p: {range: [1.2, 2.8, 0.2]}, pretext.lambda: {grid: [0.01, 0.1, 1]}}
//	  - pretext: pahl
//	    method: ssdl
//	    tune: {size: {grid: [0.25, 0.5]}, zip: {targets: [unit, raw], pretext.fill: [0, 0.5]}}    # four candidates
//
// # Data sets that need other values
//
// when lists overrides. Each names data sets (of the spec or not: a spec can be run on others
// too) and gives single values, or other lists to choose from; they hold in order, the later
// over the earlier. A parameter is given, swept or tuned in the whole row, never two of these.
//
//	rows:
//	  - method: lcksvd
//	    tune: {sqrt_alpha: {grid: [2^-3, 2^-1, 2]}}
//	    when:
//	      - {datasets: [synth40], params: {K: 400, iterations: 10}}
//	      - {datasets: [stanford40], tune: {sqrt_alpha: {grid: [2^-3]}}}
//
// # Errors
//
// Parse reports every fault at once, each with file, line and column, in the order of the
// file. Fields and parameters that do not exist, keys and values that come twice, and values
// of the wrong type or out of range are faults. So are YAML's anchors, aliases and tags, a
// second document, a file above 1 MiB, and sweeps out of all proportion: a value stands where
// it is used.
//
// # Jobs
//
// Cells lists the numbers of the table and Jobs what is run for them: a [Job] for each seed
// of a candidate. The identity of a job is canonical: it does not depend on the order of keys,
// rows or data sets, on how a number is written, or on whether a default is spelled out.
package spec
