# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Tests. `make check` runs the unit tests; ./dev test runs these and the cluster tests.

# A unit test is tests/unit/ROOM/NAME.c and one line here. All are built the same way, with LDADD below.
unit_tests = \
	%D%/unit/accounting/delivery \
	%D%/unit/bench/bench \
	%D%/unit/bench/bench-search \
	%D%/unit/contract/coll \
	%D%/unit/contract/lists \
	%D%/unit/contract/policy \
	%D%/unit/contract/warm \
	%D%/unit/engine/budget \
	%D%/unit/engine/compare \
	%D%/unit/engine/cost-account \
	%D%/unit/engine/engine \
	%D%/unit/engine/engine-rates \
	%D%/unit/engine/engine-recheck \
	%D%/unit/engine/engine-savings \
	%D%/unit/engine/engine-warm \
	%D%/unit/engine/marker \
	%D%/unit/engine/matched \
	%D%/unit/engine/measures \
	%D%/unit/engine/refine \
	%D%/unit/engine/schedule \
	%D%/unit/engine/scheduler \
	%D%/unit/engine/slowdown \
	%D%/unit/engine/times \
	%D%/unit/lab/replay-record \
	%D%/unit/lib/child \
	%D%/unit/lib/json-writer \
	%D%/unit/lib/name-set \
	%D%/unit/lib/numbers \
	%D%/unit/lib/printable \
	%D%/unit/lib/rows \
	%D%/unit/lib/when \
	%D%/unit/pmix-sync/agree \
	%D%/unit/pmix-sync/agree-recheck \
	%D%/unit/pmix-sync/agree-siblings \
	%D%/unit/pmix-sync/call-interval \
	%D%/unit/pmix-sync/layout \
	%D%/unit/pmix-sync/log-entry \
	%D%/unit/pmix-sync/mpi-library \
	%D%/unit/pmix-sync/order \
	%D%/unit/pmix-sync/precheck \
	%D%/unit/pmix-sync/read-pace \
	%D%/unit/pmix-sync/shm \
	%D%/unit/pmix-sync/window-layout \
	%D%/unit/launch/claim \
	%D%/unit/launch/estimate \
	%D%/unit/launch/memory \
	%D%/unit/launch/memory-store \
	%D%/unit/launch/profile \
	%D%/unit/launch/program \
	%D%/unit/launch/race \
	%D%/unit/launch/request \
	%D%/unit/launch/select \
	%D%/unit/launch/select-input \
	%D%/unit/launch/select-sim \
	%D%/unit/launch/step-before \
	%D%/unit/launch/step-ratio \
	%D%/unit/launch/ticket \
	%D%/unit/launch/user-env \
	%D%/unit/record/admincomment-merge \
	%D%/unit/record/behind \
	%D%/unit/record/findings \
	%D%/unit/record/lateness \
	%D%/unit/record/long \
	%D%/unit/record/parallelism \
	%D%/unit/record/report-rank \
	%D%/unit/record/report-summary \
	%D%/unit/record/schema \
	%D%/unit/record/spool \
	%D%/unit/record/sum-rows \
	%D%/unit/recordd/collect \
	%D%/unit/recordd/trays \
	%D%/unit/recordd/dumpxml \
	%D%/unit/recordd/longform \
	%D%/unit/recordd/parts \
	%D%/unit/recordd/remember \
	%D%/unit/recordd/stacks \
	%D%/unit/recordd/step-entry \
	%D%/unit/recordd/work \
	%D%/unit/report/finding-stats \
	%D%/unit/report/follow-lines \
	%D%/unit/report/reason-lines \
	%D%/unit/report/report-jobid \
	%D%/unit/report/report-jobs \
	%D%/unit/report/report-jobstream \
	%D%/unit/report/report-longform \
	%D%/unit/report/report-places \
	%D%/unit/report/report-print \
	%D%/unit/report/report-reasons \
	%D%/unit/report/report-topology \
	%D%/unit/report/report-verdict \
	%D%/unit/report/site-stats \
	%D%/unit/report/stats-print \
	%D%/unit/report/two-jobs \
	%D%/unit/site/site-conf \
	%D%/unit/site/site-rules \
	%D%/unit/spank/ask-launch \
	%D%/unit/spank/calibrate-task \
	%D%/unit/spank/cgroup \
	%D%/unit/spank/fingerprint \
	%D%/unit/spank/node-facts \
	%D%/unit/spank/option \
	%D%/unit/spank/profile-env \
	%D%/unit/spank/spank-mpi \
	%D%/unit/spank/rundir \
	%D%/unit/spank/topology \
	%D%/unit/spank/where \
	%D%/unit/tuner/calls \
	%D%/unit/tuner/chain \
	%D%/unit/tuner/chain-steady \
	%D%/unit/tuner/costs \
	%D%/unit/tuner/decide-cap \
	%D%/unit/tuner/decide-doubt \
	%D%/unit/tuner/decide-plan \
	%D%/unit/tuner/decide-recheck \
	%D%/unit/tuner/decide-rest \
	%D%/unit/tuner/decide-steady \
	%D%/unit/tuner/event-match \
	%D%/unit/tuner/event-slot \
	%D%/unit/tuner/facts \
	%D%/unit/tuner/ll128 \
	%D%/unit/tuner/mask \
	%D%/unit/tuner/p2p \
	%D%/unit/tuner/platform \
	%D%/unit/tuner/process-abi \
	%D%/unit/tuner/process-life \
	%D%/unit/tuner/process-warm \
	%D%/unit/tuner/proxy-pool \
	%D%/unit/tuner/stretch \
	%D%/unit/tuner/write-record

if HAVE_CUDA_NCCL
unit_tests += %D%/unit/bench/bench-abi
endif

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

# What unit tests load or run, and all of it: for ./dev test, which builds nothing else with sanitizers.
.PHONY: unit-needs unit-tests
unit-needs: tests/chain/nt-chain-probe.so tests/fake/libmpi-fake.so tests/fake/nt-fake-plugin.so
unit-tests: unit-needs $(check_PROGRAMS)

# The libraries of all modules, the later stages first; a test takes from them what it calls.
LDADD = libnt-cli.a libnt-measure.a $(replay_libs) libnt-report.a $(spank_libs) libnt-tuner.a libnt-sync.a libnt-engine.a $(record_libs) \
	$(HWLOC_LIBS) $(SLURM_LIBS) $(CMOCKA_LIBS) $(INIH_LIBS) $(EXPAT_LIBS)

LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir;

# What needs neither CUDA nor NCCL of nccl-tune-bench.
tests_unit_bench_bench_LDADD = libnt-bench.a libnt-lib.a libnt-contract.a $(CMOCKA_LIBS)
tests_unit_bench_bench_search_LDADD = libnt-bench.a $(profiles_libs) $(CMOCKA_LIBS)
tests_unit_bench_bench_abi_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_unit_bench_bench_abi_LDADD = $(CMOCKA_LIBS)

# The logs of nodes, over the PMIx that a step really has.
noinst_PROGRAMS += tests/fake/nt-log-peer
tests_fake_nt_log_peer_SOURCES = %D%/fake/log-peer.c
tests_fake_nt_log_peer_LDADD = libnt-sync.a libnt-contract.a

# Kills at a chosen step of the agreement.
noinst_PROGRAMS += tests/kill/nt-strike
tests_kill_nt_strike_SOURCES = %D%/kill/strike.c
tests_kill_nt_strike_LDADD =

# What an ordinary user may do to a step's memory.
noinst_PROGRAMS += tests/kill/nt-mute tests/kill/nt-maim
tests_kill_nt_mute_SOURCES = %D%/kill/mute.c
tests_kill_nt_mute_LDADD =
tests_kill_nt_maim_SOURCES = %D%/kill/maim.c
tests_kill_nt_maim_LDADD =

# The simulated NCCL, and a plugin for it that does right or wrong as it is told.
# Without its GPU and its application: for the libraries of tests/simlib, too.
noinst_LIBRARIES += libnt-fake-core.a libnt-fake.a
# The core and the GPU call each other: this GPU, or that of tests/simlib.
fake_libs = libnt-fake.a libnt-fake-core.a libnt-fake.a libnt-fake-core.a libnt-trace.a libnt-contract.a
libnt_fake_core_a_SOURCES = \
	%D%/fake/choice.c \
	%D%/fake/comm.c \
	%D%/fake/decide.c \
	%D%/fake/dumps.c \
	%D%/fake/dumps.h \
	%D%/fake/event.c \
	%D%/fake/event.h \
	%D%/fake/fake.h \
	%D%/fake/gpu.h \
	%D%/fake/group.c \
	%D%/fake/p2p.c \
	%D%/fake/p2p.h \
	%D%/fake/guard.c \
	%D%/fake/guard.h \
	%D%/fake/kernel.c \
	%D%/fake/kernel.h \
	%D%/fake/launch.c \
	%D%/fake/launch.h \
	%D%/fake/limits.h \
	%D%/fake/load.c \
	%D%/fake/load.h \
	%D%/fake/masks.h \
	%D%/fake/model.c \
	%D%/fake/model.h \
	%D%/fake/options.c \
	%D%/fake/options.h \
	%D%/fake/options_parse.c \
	%D%/fake/options_parse.h \
	%D%/fake/pool.c \
	%D%/fake/pool.h \
	%D%/fake/proxy.c \
	%D%/fake/proxy.h \
	%D%/fake/rng.h \
	%D%/fake/shim_prof.c \
	%D%/fake/shim_tuner.c \
	%D%/fake/split.c \
	%D%/fake/split.h \
	%D%/fake/sum.c \
	%D%/fake/sum.h \
	%D%/fake/wire.c \
	%D%/fake/wire.h \
	%D%/fake/wire_memory.h
libnt_fake_a_SOURCES = \
	%D%/fake/crew.c \
	%D%/fake/crew.h \
	%D%/fake/family.c \
	%D%/fake/family.h \
	%D%/fake/gpu.c \
	%D%/fake/play.c \
	%D%/fake/play.h \
	%D%/fake/settled.c \
	%D%/fake/settled.h
noinst_PROGRAMS += tests/fake/nt-fake-nccl
tests_fake_nt_fake_nccl_SOURCES = %D%/fake/main.c
tests_fake_nt_fake_nccl_LDADD = $(fake_libs)
# The plugin asks the process for NCCL's version.
tests_fake_nt_fake_nccl_LDFLAGS = -rdynamic
# A process that may not make some system calls.
noinst_PROGRAMS += tests/fake/nt-refuse
tests_fake_nt_refuse_SOURCES = %D%/fake/refuse.c
tests_fake_nt_refuse_LDADD =
noinst_PROGRAMS += tests/fake/nt-launch-trace
tests_fake_nt_launch_trace_SOURCES = %D%/fake/launch-trace.c
tests_fake_nt_launch_trace_LDADD = libnt-contract.a
# Traces of made-up noise, for nt-replay.
noinst_PROGRAMS += tests/fake/nt-noise
tests_fake_nt_noise_SOURCES = %D%/fake/noise-trace.c %D%/fake/noise.c %D%/fake/noise.h
tests_fake_nt_noise_LDADD = libnt-contract.a
tests_unit_engine_engine_rates_SOURCES = %D%/unit/engine/engine-rates.c %D%/fake/noise.c
tests_unit_engine_engine_rates_LDADD = libnt-drive.a libnt-engine.a libnt-contract.a $(CMOCKA_LIBS)

# Policies for its ranks, and the step's record from theirs.
noinst_PROGRAMS += tests/fake/nt-record
tests_fake_nt_record_SOURCES = %D%/fake/record.c
tests_fake_nt_record_LDADD = $(spank_libs) $(record_libs) $(EXPAT_LIBS)

noinst_PROGRAMS += tests/fake/nt-fake-plugin.so
tests_fake_nt_fake_plugin_so_SOURCES = %D%/fake/plugin.c
tests_fake_nt_fake_plugin_so_LDADD = libnt-contract.a
tests_fake_nt_fake_plugin_so_LDFLAGS = $(module_ldflags) $(NT_NO_UNDEFINED)

# A network plugin that has a name.
noinst_PROGRAMS += tests/fake/libnccl-net-fake.so
tests_fake_libnccl_net_fake_so_SOURCES = %D%/fake/net.c
tests_fake_libnccl_net_fake_so_LDADD =
tests_fake_libnccl_net_fake_so_LDFLAGS = $(tests_fake_nt_fake_plugin_so_LDFLAGS)

# A second profiler and tuner, behind ours: of today's interface, and of old ones.
noinst_PROGRAMS += tests/chain/nt-chain-new.so tests/chain/nt-chain-old.so \
	tests/chain/nt-chain-probe.so
tests_chain_nt_chain_probe_so_SOURCES = %D%/chain/probe.c %D%/chain/probe.h
tests_chain_nt_chain_probe_so_LDFLAGS = $(tests_fake_nt_fake_plugin_so_LDFLAGS)
tests_chain_nt_chain_probe_so_LDADD =
tests_chain_nt_chain_new_so_SOURCES = %D%/chain/logger.c
tests_chain_nt_chain_new_so_CPPFLAGS = $(AM_CPPFLAGS) -DCHAIN_OLD=0
tests_chain_nt_chain_new_so_LDADD = libnt-contract.a
tests_chain_nt_chain_new_so_LDFLAGS = $(tests_fake_nt_fake_plugin_so_LDFLAGS) -Wl,-z,nodelete
tests_chain_nt_chain_old_so_SOURCES = %D%/chain/logger.c
tests_chain_nt_chain_old_so_CPPFLAGS = $(AM_CPPFLAGS) -DCHAIN_OLD=1
tests_chain_nt_chain_old_so_LDADD = libnt-contract.a
tests_chain_nt_chain_old_so_LDFLAGS = $(tests_fake_nt_fake_plugin_so_LDFLAGS) -Wl,-z,nodelete

# What clouds bring: network plugins and tuners that behave as theirs.
noinst_PROGRAMS += tests/chain/libnccl-net-ofi.so tests/chain/nt-google-tuner.so tests/chain/nt-fastrak-net.so
tests_chain_libnccl_net_ofi_so_SOURCES = %D%/chain/vendor.c
tests_chain_libnccl_net_ofi_so_CPPFLAGS = $(AM_CPPFLAGS) -DVENDOR=AWS
tests_chain_libnccl_net_ofi_so_LDADD = libnt-contract.a
tests_chain_libnccl_net_ofi_so_LDFLAGS = $(tests_fake_nt_fake_plugin_so_LDFLAGS)
tests_chain_nt_google_tuner_so_SOURCES = %D%/chain/vendor.c
tests_chain_nt_google_tuner_so_CPPFLAGS = $(AM_CPPFLAGS) -DVENDOR=GOOGLE
tests_chain_nt_google_tuner_so_LDADD = libnt-contract.a
tests_chain_nt_google_tuner_so_LDFLAGS = $(tests_fake_nt_fake_plugin_so_LDFLAGS)
tests_chain_nt_fastrak_net_so_SOURCES = %D%/chain/vendor.c
tests_chain_nt_fastrak_net_so_CPPFLAGS = $(AM_CPPFLAGS) -DVENDOR=FASTRAK
tests_chain_nt_fastrak_net_so_LDADD = libnt-contract.a
tests_chain_nt_fastrak_net_so_LDFLAGS = $(tests_fake_nt_fake_plugin_so_LDFLAGS)

# The same for programs that load it: MPI programs, Python, ranks that end in odd ways (tests/launch).
noinst_PROGRAMS += tests/fake/nt-fake-job.so
tests_fake_nt_fake_job_so_SOURCES = %D%/launch/job.c
tests_fake_nt_fake_job_so_LDADD = $(fake_libs)
tests_fake_nt_fake_job_so_LDFLAGS = $(module_ldflags) $(NT_NO_UNDEFINED)

# NCCL and the CUDA runtime, simulated, for any program: dev puts them into a folder of the stage.
noinst_PROGRAMS += tests/simlib/libcudart.so.13 tests/simlib/libnccl.so.2
tests_simlib_libcudart_so_13_SOURCES = \
	%D%/simlib/api.h \
	%D%/simlib/cudart.c \
	%D%/simlib/memory.c \
	%D%/simlib/memory.h \
	%D%/simlib/stream.c \
	%D%/simlib/stream.h
tests_simlib_libcudart_so_13_LDADD =
tests_simlib_libcudart_so_13_LDFLAGS = $(AM_LDFLAGS) -shared -Wl,-soname,libcudart.so.13 $(NT_NO_UNDEFINED)
tests_simlib_libnccl_so_2_SOURCES = \
	%D%/simlib/data.c \
	%D%/simlib/fault.c \
	%D%/simlib/fault.h \
	%D%/simlib/gpu.c \
	%D%/simlib/nccl.c \
	%D%/simlib/p2p.c \
	%D%/simlib/reduce.c \
	%D%/simlib/reduce.h \
	%D%/simlib/sim.h \
	%D%/simlib/world.c
tests_simlib_libnccl_so_2_LDADD = libnt-fake-core.a libnt-trace.a libnt-contract.a tests/simlib/libcudart.so.13
tests_simlib_libnccl_so_2_LDFLAGS = $(AM_LDFLAGS) -shared -Wl,-soname,libnccl.so.2 -Wl,--no-as-needed $(NT_NO_UNDEFINED) \
	-Wl,-rpath,'$$ORIGIN'
if PROGRAMS_RUN
noinst_DATA = tests/simlib/times.csv
endif
CLEANFILES += tests/simlib/times.csv tests/simlib/picks.csv
tests/simlib/times.csv: tests/fake/nt-launch-trace$(EXEEXT)
	$(AM_V_GEN)$(EMULATOR) ./tests/fake/nt-launch-trace --best wide --topology 2x4 --picks tests/simlib/picks.csv >$@.tmp && mv $@.tmp $@

# Stands in for an MPI library; it must be called like one.
noinst_PROGRAMS += tests/fake/libmpi-fake.so
tests_fake_libmpi_fake_so_SOURCES = %D%/fake/mpi.c
tests_fake_libmpi_fake_so_LDADD =
tests_fake_libmpi_fake_so_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_fake_libmpi_fake_so_LDFLAGS = $(module_ldflags)

# Pages of `nccl-tune report --html` without Slurm.
noinst_PROGRAMS += tests/page/nt-page
tests_page_nt_page_SOURCES = %D%/page/page.c
tests_page_nt_page_LDADD = libnt-cli.a libnt-report.a libnt-launch-plain.a $(record_libs)

# What is read or run as it is. tests/lint/archive.bats compares the archive with the tracked files.
EXTRA_DIST += \
	%D%/README.md \
	%D%/chain/chain.bats \
	%D%/chain/vendors.bats \
	%D%/cluster \
	%D%/cmd \
	%D%/fake/arms.bats \
	%D%/fake/calibrate-task.bats \
	%D%/fake/clean.bats \
	%D%/fake/fabric.bats \
	%D%/fake/fake-nccl.bats \
	%D%/fake/late.bats \
	%D%/fake/ll128.bats \
	%D%/fake/made-up-jobs.sh \
	%D%/fake/marker.bats \
	%D%/fake/newer.bats \
	%D%/fake/p2p.bats \
	%D%/fake/reasons.bats \
	%D%/fake/record.bats \
	%D%/fake/resources.bats \
	%D%/fake/reward.bats \
	%D%/fake/touch-task.sh \
	%D%/fake/warm.bats \
	%D%/install \
	%D%/kill/kill.bash \
	%D%/kill/rank.sh \
	%D%/launch/children.c \
	%D%/launch/ends.c \
	%D%/launch/job.py \
	%D%/launch/load.h \
	%D%/launch/mpi-job.c \
	%D%/launch/mpi-order.c \
	%D%/lib \
	%D%/lint \
	%D%/model/accesses.awk \
	%D%/model/agree.pml \
	%D%/model/check.sh \
	%D%/model/model.bats \
	%D%/model/orders-explorer.c \
	%D%/model/orders-explorer.h \
	%D%/model/orders-litmus.c \
	%D%/model/orders-litmus.h \
	%D%/model/orders-main.c \
	%D%/model/orders-parts.c \
	%D%/model/orders-parts.h \
	%D%/model/orders-plain.c \
	%D%/model/orders.bats \
	%D%/model/orders.c \
	%D%/model/orders.h \
	%D%/model/orders.sh \
	%D%/model/trace-wrapped \
	%D%/model/traces.bats \
	%D%/page/data \
	%D%/page/keys.jq \
	%D%/page/page.bats \
	%D%/page/screenshots.sh \
	%D%/traces \
	%D%/tsan/threads.bats \
	%D%/unit/data \
	%D%/unit/engine/engine-bench.h \
	%D%/unit/fake-sacct.h \
	%D%/unit/pmix-sync/agree-pair.h \
	%D%/unit/launch/calibrate-world.h \
	%D%/unit/launch/select-world.h \
	%D%/unit/sanitized.h \
	%D%/unit/scratch.h \
	%D%/unit/table-file.h \
	%D%/unit/task-env.h \
	%D%/unit/tuner/decide-host.h \
	%D%/unit/tuner/process-child.h \
	%D%/unit/tuner/steady.h
