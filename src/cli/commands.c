/* SPDX-License-Identifier: MIT */

#include "cli.h"

#define ANY_NUMBER SIZE_MAX

/* What several commands take together. */
#define COMPILING "kernels cache jobs force allow-flags "
#define MEASURING "min-time max-time timer cache-mode timeout "

const struct command commands[] = {
    {.name = "run",
     .args = "SUITE|KERNEL...",
     .summary = "measure kernels, verified, against the ceilings of the machine",
     .examples = "  rooftile run quick                        the one-minute suite, any machine\n"
                 "  rooftile run quick -o out/quick.json      and keep the result\n"
                 "  rooftile run my_suite.json --device cpu   a suite of your own\n"
                 "  rooftile run stream_triad --set n=32Mi --set dtype=f64\n"
                 "  rooftile run pointer_chase --set footprint=16Ki..1Gi*2\n"
                 "  rooftile run gemm_buffered --device sim:mi300x   predict, execute nothing\n"
                 "  rooftile run quick --device hip:0,hip:1 -o r.json   each into its own file\n"
                 "  srun rooftile run quick --device all --out-dir out   every GPU of every node\n"
                 "  rooftile run quick -o r.json --resume r.json   go on after Ctrl-C or a kill\n"
                 "  rocprofv3 --kernel-trace --marker-trace -- rooftile run stream_copy --profile\n"
                 "  rocgdb --args rooftile run my_kernel --kernels . --profile\n",
     .details =
         "A SUITE is a JSON file, or the name of one in configs/; a KERNEL is a name of 'rooftile list'. Every "
         "parameter that --set gives several values is swept; several parameters make every combination.\n"
         "Several devices (--device A,B) run one after the other, and one table has them side by side. -o FILE.json "
         "writes one result for each, FILE.A.json and so on, because a result is of one device.\n"
         "--profile is for looking at kernels with other tools: in a trace each case is a range with its id, and in it "
         "the ranges 'warm' and 'timed' with one launch each (of every step, where a kernel has several). There are no "
         "other launches, and no watchdog unless --timeout sets one. Cases run in a worker process: in a debugger say "
         "'set detach-on-fork off' and 'set schedule-multiple on' first.\n"
         "A finished case is on the disk before the next one begins: in FILE.journal with -o FILE (else in the data "
         "folder; -v prints its name) until the result is written. If the run was killed, --resume, report, compare "
         "and merge read it in place of FILE.\n"
         "Exit codes: 0 ok; 1 findings: a wrong result, a crash, a speed beyond a physical peak; 2 usage or "
         "configuration; 3 nothing could be measured; 4 with --strict: inconclusive, or time ran out before all cases; "
         "130 interrupted, with a valid partial result.",
     .options =
         "device set filter out out-dir together json format quick seed sample-seed machine " COMPILING
         "resume samples " MEASURING "budget trials ab keep-order label strict profile isolate described dry-run",
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_run,
     .makes_file = true},
    {.name = "plan",
     .args = "SUITE|KERNEL...",
     .summary = "show what a run would do and how long it would take",
     .examples = "  rooftile plan quick                       cases, lower bounds, how long\n"
                 "  rooftile plan stream_triad --set n=1Mi..1Gi*4\n"
                 "  rooftile plan quick --device sim:mi300x   on a GPU that is not here\n"
                 "  rooftile plan gemm --device sim:mi300x,sim:h100   side by side\n"
                 "  rooftile plan quick --json plan.json\n",
     .details =
         "The lower bound is the least time that the ceilings allow; predicted is what to expect, as 'rooftile "
         "predict' has it. Of several devices (--device A,B) or machine files (--machine A,B) each has its times, "
         "and how many times faster it is than the first; the JSON then has one plan for each.",
     .options = "device set filter out json quick seed machine isolate described " COMPILING MEASURING,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_plan},
    {.name = "build",
     .args = "[SUITE|KERNEL]...",
     .summary = "compile kernels ahead of a run",
     .examples = "  rooftile build quick --arch gfx942,gfx90a   the GPU node needs no compiler\n"
                 "  rooftile build gemm_buffered                for the device of this machine\n"
                 "  rooftile build -v --force                   everything, with paths of objects\n"
                 "  rooftile build softmax_row --arch gfx1100 --set wave=32,64 --set cumode=0,1\n"
                 "  rooftile build quick --references --cache D  for GPU machines without clang\n",
     .details =
         "Without arguments every kernel is compiled. Compiled kernels are kept in a cache that 'rooftile run' looks "
         "into; give --cache to fill another folder, and the same to 'rooftile run' on a machine without a compiler. "
         "'rooftile list --targets' shows what can be compiled here. The compiler is the first that knows the target: "
         "$ROCM_PATH/llvm/bin/amdclang++, hipcc, the newest clang++; for NVIDIA CUDA's nvcc, else the newest clang++ "
         "from LLVM 19 on, which writes PTX for the driver to compile; or what ROOFTILE_KERNEL_COMPILER names.\n"
         "With --references it compiles what 'check --run' and the named suites compare results with, for every GPU "
         "(or those of --arch), whether its compiler is installed or not.\n"
         "Exit code 1: something did not compile, and the compiler's own message is shown; or no compiler knows a "
         "target of --arch.",
     .options = "arch device set filter machine " COMPILING "references isolate",
     .max_args = ANY_NUMBER,
     .run = cmd_build},
    {.name = "check",
     .args = "[SUITE|KERNEL]...",
     .summary = "check manifests, suites and code, and with --run the kernels",
     .examples = "  rooftile check                            every manifest, against its code\n"
                 "  rooftile check my_suite.json              and a suite\n"
                 "  rooftile check --arch gfx942,gfx1100      against code for these targets\n"
                 "  rooftile check --run                      every kernel at its check size\n"
                 "  rooftile check my_kernel --kernels . --run --orders\n"
                 "  rooftile check --inject-faults            would a wrong result be noticed?\n",
     .details =
         "Every kernel is built at its check size, and the arguments and the occupancy that its manifest states are "
         "compared with those of the code: for the targets of --arch, else for the first that an installed compiler "
         "knows. With --run or --inject-faults this is skipped unless --arch is given.\n"
         "\n"
         "Exit codes: 1 a kernel is wrong, or a fault went unnoticed; 2 a manifest or suite is broken, or does not fit "
         "its code; 3 with --run: nothing was verified; 4 with --strict: time ran out before all kernels.",
     .options = "arch run orders inject-faults device set filter out json seed " COMPILING "timeout budget strict",
     .max_args = ANY_NUMBER,
     .run = cmd_check,
     .makes_file = true},
    {.name = "roofline",
     .args = "[SUITE]",
     .summary = "measure the ceilings of this machine",
     .examples = "  rooftile roofline                         a few minutes, saved for 'run'\n"
                 "  rooftile roofline --quick                 rougher, in about a minute\n"
                 "  rooftile roofline -o node7.json           into a machine file of your own\n"
                 "  rooftile roofline --machine mi300x        show those of a machine file\n"
                 "  rooftile run quick --machine node7.json\n",
     .details =
         "Measures the suite 'characterize' (or SUITE) and writes what it found into a machine file. The ceilings "
         "are the bandwidth of each memory level and the peak of each arithmetic unit; beside them stand latencies, "
         "LDS, "
         "launch costs and timer facts. Cache levels are found in the measurements, by bandwidth and by latency, "
         "not looked up in a table; where the two do not agree, it says so. -o names the machine file; --result "
         "keeps the measurements behind it.",
     .options = "device quick machine out json result seed " COMPILING "budget strict",
     .max_args = 1,
     .run = cmd_roofline,
     .makes_file = true},
    {.name = "list",
     .args = "[KERNEL|SUITE]...",
     .summary = "list kernels and suites, or show one in full",
     .examples = "  rooftile list                             everything, one line each\n"
                 "  rooftile list stream_triad                one kernel in full\n"
                 "  rooftile list --filter 'stream_*'\n"
                 "  rooftile list --targets                   GPUs, and what compiles for them\n"
                 "  rooftile list --json -                    for programs\n",
     .details = "With the name of a family, such as memory, its kernels are listed. --filter looks at names, families "
                "and tags.",
     .options = "filter targets names params out json kernels",
     .max_args = ANY_NUMBER,
     .run = cmd_list},
    {.name = "devices",
     .args = "",
     .summary = "list the devices, or say exactly why one is missing",
     .examples = "  rooftile devices\n"
                 "  rooftile devices --json -                 for programs\n",
     .options = "names out json",
     .run = cmd_devices},
    {.name = "inspect",
     .args = "KERNEL|FILE...",
     .summary = "show registers, occupancy and instructions of kernels",
     .examples = "  rooftile inspect gemm_buffered --arch gfx942   compiled for it, no GPU needed\n"
                 "  rooftile inspect gemm_buffered --arch gfx90a --set dtype=f64 --isa\n"
                 "  rooftile inspect my_kernel.hsaco          any code object or bundle\n"
                 "  rooftile inspect ./app --filter '*gemm*'  kernels inside a HIP program\n"
                 "  rooftile inspect my.co --block 256 --json -   for programs\n"
                 "  rooftile inspect x.hsaco --manifest -o x.json   for 'rooftile run'\n",
     .details =
         "A FILE is a code object (.co, .hsaco), an offload bundle, compressed or not, or an executable or library "
         "with such bundles inside. Neither GPU nor ROCm is needed. Without --arch a KERNEL is compiled for the AMD "
         "GPU of this machine, else for gfx942, and a FILE is shown whole.\n"
         "Occupancy follows from the registers and LDS that the hardware is told to allocate, for workgroups as the "
         "kernel is launched. Instructions are read from llvm-objdump and counted once each, whatever the branches "
         "do; the column of a loop is one pass through it.\n"
         "Findings never change the exit code.",
     .options = "arch set filter block isa ir manifest out json " COMPILING,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_inspect},
    {.name = "codediff",
     .args = "A B [KERNEL|SUITE]...",
     .summary = "say what changed between two builds of kernels",
     .examples = "  rooftile codediff clang++-19 clang++-22        all kernels, by two compilers\n"
                 "  rooftile codediff old_kernels kernels --arch gfx942,gfx1201\n"
                 "  rooftile codediff old.hsaco new.hsaco --isa    with the code side by side\n"
                 "  rooftile codediff libold.so libnew.so '*gemm*'\n"
                 "  rooftile codediff clang++-19 clang++-22 --pin accepted.json\n",
     .details =
         "A and B are folders of kernels, compilers, looked up in PATH, with their flags (\"clang++-22 -O1 -g\"), or "
         "code objects and libraries; of these further words choose kernels. No GPU is needed. Compared are registers, "
         "spills, scratch, LDS, occupancy and code size, and for the hot loop instructions, issue clocks, waits and "
         "the longest dependent chain, each for the same work: a loop that is unrolled twice as often does twice the "
         "work in a pass. Every kernel that changed has a cause; below are the totals of each figure with helped, hurt "
         "and same, and the worst five.\n"
         "A kernel is hurt by new spills or scratch, fewer waves per SIMD, 5 % more issue clocks or half as many round "
         "trips to memory again for the same work in its hot loop, compare and swap, or fences. Both builds are walked "
         "in the same launch (of code objects in one that is made up); the model's time decides where signs disagree, "
         "else the verdict is \"mixed\".\n"
         "Exit codes: 1 a kernel is hurt; 2 nothing could be compared.",
     .options = "arch set filter block isa pin out json " COMPILING,
     .min_args = 2,
     .max_args = ANY_NUMBER,
     .run = cmd_codediff},
    {.name = "import",
     .args = "FILE... [FOLDER...]",
     .summary = "where the time of a trace goes, and a suite of its shapes",
     .examples = "  rooftile import trace.json.gz                 PyTorch's profiler: the table\n"
                 "  rooftile import trace.json.gz -o mine.json    and a suite of its shapes\n"
                 "  rooftile run mine.json -o result.json         which measures them here\n"
                 "  rooftile import trace.json.gz ~/.triton/cache -o mine.json  own code\n"
                 "  rooftile import graph.json.gz --shapes eager.json.gz   HIP graphs\n"
                 "  rooftile import --diff before.json.gz after.json.gz\n"
                 "  rooftile import config.json --decode --batch 16 --tp 8 -o model.json\n",
     .details =
         "A FILE is what PyTorch's profiler wrote (Kineto JSON), rocprofv3 (CSV, JSON, rocpd), nsys' SQLite export or "
         "CSV, any log with lines of hipblaslt-bench, rocblas-bench (or the YAML that both libraries log) or "
         "MIOpenDriver, with the times that these printed, what rccl-tests, TransferBench, nvbandwidth or "
         "rocm_bandwidth_test printed, a table of TunableOp or AITER, AITER's lines of products that it has no tuned "
         "kernel of, or a model's config.json. Its content says which; gzip is read through. Several files of one run "
         "add up.\n"
         "Time is what the GPUs were busy with, by the innermost operator that launched it. Lower bounds are those of "
         "the GPU that the trace names, or of --machine; 'tuned' is what a well tuned kernel is predicted to take "
         "there. Under HIP and CUDA graphs a trace has no operators: a trace of the capture, or an eager one, with "
         "--shapes, or a library's log fills shapes in; what remains is named.\n"
         "The suite that -o writes has a case for each operator, shape, types and layout, with its weight (calls) and "
         "the traced time. Its runs show each operator's time here next to the traced one, and the key figure "
         "'weighted time' of the whole, which compare, history and nightly judge.\n"
         "A folder among the files is searched for the code of the trace's kernels: Triton's cache (and the folder of "
         "PyTorch's compiler, which says which variant it chose), or launches that kerncap kept. Beside -o mine.json "
         "the folder mine.kernels gets a copy of each and a manifest with the launch of the trace.",
     .options = "out json format shapes diff machine batch tokens tp decode kernels",
     .max_args = ANY_NUMBER,
     .run = cmd_import,
     .prints_to_out = false},
    {.name = "report",
     .args = "RESULT...|FOLDER...",
     .summary = "show a result file as a table, a page with pictures, CSV or JSON",
     .examples = "  rooftile report out/quick.json            the table again\n"
                 "  rooftile report r.json --sort -time --top 10   the ten longest\n"
                 "  rooftile report r.json --filter 'stream_*' -o r.csv\n"
                 "  rooftile report r.json --format jsonl | grep stream_\n"
                 "  rooftile report r.json -o report.html     one page, with pictures\n"
                 "  rooftile report old.json new.json -o report.html   what changed first\n"
                 "  rooftile report r.json --picture kernels -o kernels.svg   for a paper\n"
                 "  rooftile report --history h.db results -o site   nightly runs, a fleet\n",
     .details =
         "Several results make one page: two of one device are compared, the older one first; those of several devices "
         "stand side by side. The page is self-contained and works without JavaScript. With --history, and of folders "
         "of a fleet's results, it writes a static site: an index, and a page for each channel and device and each "
         "fleet.",
     .options = "filter sort top format picture history out json",
     .min_args = 0,
     .max_args = ANY_NUMBER,
     .run = cmd_report},
    {.name = "predict",
     .args = "SUITE|KERNEL...|FILE.co|RESULT|LAUNCHES",
     .summary = "predict times on machines that are not here",
     .examples = "  rooftile predict stream_triad --machine mi300x   time, what limits it\n"
                 "  rooftile predict gemm --machine mi300x,mi210,rx7900xtx   side by side\n"
                 "  rooftile predict gemm_matrix --machine mi300x --json -   every term\n"
                 "  rooftile predict result.json --machine mi355x   what was measured, elsewhere\n"
                 "  rooftile predict their.co --machine mi300x --set n=4Mi   sizes are assumed\n"
                 "  rooftile predict launches.json --json -   by description, no code needed\n",
     .details =
         "Kernels are compiled for each machine's target and walked: instructions, addresses and waits of sampled "
         "waves, with the buffers' known contents. Where there is no code to walk, the work that the manifest states "
         "is taken, and that is said. Limited by: the term that takes the most time; bound: as the roofline names it. "
         "10 % faster: how much less time it takes when that term is a tenth faster. Portability: the harmonic mean of "
         "the shares of the ceilings.\n"
         "For a FILE.co without a manifest the launch is assumed from its metadata and --set; --filter chooses its "
         "kernel.\n"
         "For a RESULT: its cases (--filter chooses) on other machines; a case that was predicted before it was "
         "measured is scaled by measured over predicted, if the same term limits it on both.\n"
         "Launches (docs/predict.md) are families of kernels with their sizes, each on the machine that it names: "
         "tuned GEMMs, element-wise kernels, softmax, layer norm, naive convolutions, with the constants of --models.",
     .options = "machine set filter described models out json format seed " COMPILING,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_predict},
    {.name = "explain",
     .args = "KERNEL|RESULT",
     .summary = "say where the time of a case goes, and what would help most",
     .examples = "  rooftile explain gemm_matrix --machine mi300x   on a GPU that is not here\n"
                 "  rooftile explain transpose_naive --set n=4096 --machine rx7900xtx\n"
                 "  rooftile explain softmax_row --machine mi300x --counters counters.csv\n"
                 "  rooftile explain result.json --filter 'softmax_*'   what was measured\n"
                 "  rooftile explain attention_prefill --machine mi355x --json -\n",
     .details =
         "Causes are ranked by what they cost: what the prediction falls by when that cause alone is gone, as the same "
         "model says with one of its inputs changed (docs/predict.md). Evidence is what the walk of the kernel saw: "
         "registers and occupancy, widths and lines of accesses, bank conflicts, waits, idle lanes, atomics, the "
         "tail.\n"
         "For a RESULT: the cases that --filter chooses (by id, label or kernel), at their measured clock, with the "
         "differences between prediction and measurement, and the ablation twins of 'run --isolate'.\n"
         "The command for rocprofv3 counts what tells these causes apart on a real GPU; --counters reads what it wrote "
         "and sets it beside what the model expects.",
     .options = "machine set filter counters described out json format seed " COMPILING,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_explain},
    {.name = "model-error",
     .args = "RESULT...",
     .summary = "how far predictions are from measured times",
     .examples = "  rooftile model-error result.json                  what was measured here\n"
                 "  rooftile model-error *.json --format csv > rows.csv   case by case\n",
     .details =
         "The predictions that were made before the cases of RESULTs were measured, by kernel. Errors are relative to "
         "the measured time, signed ones above 0 where the prediction is too slow. In the interval: how often the "
         "truth lies inside the 80 % interval. For times that were measured elsewhere: scripts/model_error.",
     .options = "format out json",
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_model_error},
    {.name = "merge",
     .args = "RESULT...",
     .summary = "join trials of one run into one result",
     .examples = "  rooftile merge t1.json t2.json t3.json -o run.json\n"
                 "  rooftile report run.json                  medians of three trials\n",
     .details =
         "A trial is a fresh process; the medians of several say how much a process differs from the next, which "
         "the samples of one cannot. Trials of different devices, environments, suites or timers are refused, and "
         "cases "
         "of other code, launches, input data, work or verification, and so is the same trial twice. The order of the "
         "files does not matter.",
     .options = "out json",
     .min_args = 2,
     .max_args = ANY_NUMBER,
     .run = cmd_merge,
     .makes_file = true},
    {.name = "compare",
     .args = "BASE NEW",
     .summary = "say what got slower between two results, with an exit code",
     .examples = "  rooftile compare old.json new.json\n"
                 "  rooftile compare old.json new.json --strict     doubt fails too\n"
                 "  rooftile compare mi300x.json h100.json --devices   two GPUs side by side\n"
                 "  rooftile compare old.json new.json --format markdown -o comment.md\n"
                 "  rooftile compare old.json new.json -o changes.html   a page, with pictures\n"
                 "  rooftile run quick --ab old_kernels kernels     measure both in turns instead\n",
     .details =
         "Both results should have 3 trials or more (run --trials 5): the spread between processes decides what can be "
         "told, and fewer trials are never confirmed. SLOWER and FASTER are certain to --alpha and beyond --delta; "
         "SAME is within 3 %; everything else is INCONCLUSIVE, with the change that could have been seen.\n"
         "--devices shows results of two different devices side by side: how many times as fast the second is, each "
         "one's share of its own ceilings, and bounds that differ; without a verdict.\n"
         "Exit codes: 0 nothing slower; 1 a case or key figure is slower, broken or missing; 2 the two cannot be "
         "compared; 4 with --strict: something is inconclusive, new or not comparable.",
     .options = "format json out filter alpha delta strict devices",
     .min_args = 2,
     .max_args = 2,
     .run = cmd_compare},
    {.name = "fleet",
     .args = "DIR|FILE...",
     .summary = "say which of many devices is slow, broken or missing",
     .examples = "  rooftile fleet results                     every result below the folder\n"
                 "  rooftile fleet results --expect \"$SLURM_JOB_NODELIST\"   and who is missing\n"
                 "  srun --exclude=$(rooftile fleet results --list bad | paste -sd,) ...\n"
                 "  rooftile fleet results --json fleet.json   the baseline of later ones\n"
                 "  rooftile fleet results --baseline fleet.json --format nagios\n",
     .details =
         "Reads results only, of any runs; under Slurm, Flux, mpirun, Kubernetes or torchrun they name their node. "
         "Devices of one model, partition mode, power cap and driver are compared, each with the median of the others; "
         "what else differs between them is drift. A device is slow when a case takes over 3 % longer, beyond 5 "
         "spreads of its group, in every run of it (docs/fleet.md has the rule and what it can see). Five devices of a "
         "kind are needed, or a baseline.\n"
         "Exit codes: 0 alike; 1 a device is slow, broken or missing, a file is no result, a case has two groups, or a "
         "group is below its baseline; 2 the command line or a file is wrong; 3 nothing was read; 4 too few alike to "
         "tell, with --strict also drift. With --format nagios they are a plugin's: 0 OK, 1 WARNING (drift), 2 "
         "CRITICAL, 3 UNKNOWN.",
     .options = "expect list confirm baseline format out json html strict",
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_fleet},
    {.name = "aa",
     .args = "SUITE|KERNEL...",
     .summary = "measure this machine's own noise, and what can be told in spite of it",
     .examples = "  rooftile aa quick                          20 trials of the same build\n"
                 "  rooftile aa nightly --trials 40 --json noise.json\n",
     .details =
         "The spread between fresh processes is learned per case and per class, and kept: 'rooftile compare' then "
         "knows what each case can show. Cases whose smallest visible change exceeds 10 % are named as too noisy to "
         "gate. It needs at least 8 trials.",
     .options = "device set filter trials out json format result quick seed machine " COMPILING "samples " MEASURING
                "budget strict",
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_aa,
     .makes_file = true},
    {.name = "history",
     .args = "add|show|gate|accept|export|check|prune [ARGUMENT]...",
     .summary = "keep every run, and say what changed for good",
     .examples = "  rooftile history add run.json           one more run\n"
                 "  rooftile history gate                     judge it; exit code 1: a regression\n"
                 "  rooftile history gate --confirm nightly   measure suspects again first\n"
                 "  rooftile history show 'stream_*'          how it went\n"
                 "  rooftile history accept 'gemm_*' --reason 'traded for accuracy, #123'\n"
                 "  rooftile history export -o history.csv\n",
     .details =
         "One SQLite file; a run is one result with its trials, a series one case under one timer on one device. The "
         "gate wants 6 runs before it judges a series. One run that moved is TENTATIVE; a change that stayed, or "
         "that --confirm measured again, is confirmed, and remains a finding until it is gone or accepted. A changed "
         "driver, kernel or governor starts every series anew, and says so. Where the channel has more devices of the "
         "model, the gate says how many moved too, and a case that is slower than theirs (as in 'rooftile fleet') is "
         "SLOW.\n"
         "Exit codes of gate: 0 nothing confirmed; 1 a series is slower for good or than its group, broken or missing; "
         "3 --confirm could "
         "measure nothing; 4 with --strict: tentative, learning, timed in another way, or the environment, input data "
         "or work changed. check: 1 when something is wrong with the file.",
     .options =
         "db channel device format out json strict confirm trials reason keep backfill machine kernels cache jobs "
         "allow-flags",
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_history,
     .prints_to_out = true},
    {.name = "schema",
     .args = "[suite|manifest|machine|models|result|compare|inspect|codediff|...]",
     .summary = "print the JSON Schema of a file format, or list them",
     .examples = "  rooftile schema suite > suite.schema.json   for an editor or validator\n"
                 "  rooftile schema                             which there are\n",
     .options = "out",
     .max_args = 1,
     .run = cmd_schema,
     .prints_to_out = true},
    {.name = "completion",
     .args = "bash|zsh|fish",
     .summary = "print a completion script for a shell",
     .examples = "  source <(rooftile completion bash)        this shell only\n"
                 "  rooftile completion zsh -o ~/.zfunc/_rooftile\n"
                 "  rooftile completion fish -o ~/.config/fish/completions/rooftile.fish\n",
     .options = "out",
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_completion,
     .prints_to_out = true},
    {.name = "man",
     .args = "",
     .summary = "print the man page (as mdoc source)",
     .examples = "  rooftile man | man -l -                   read it\n"
                 "  rooftile man -o rooftile.1\n",
     .options = "out",
     .run = cmd_man,
     .prints_to_out = true},
    {.name = NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
