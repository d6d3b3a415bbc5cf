# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Tests. `make check` runs the unit tests; ./dev test runs these and the cluster tests.

# A unit test is tests/unit/NAME.c and one line here. All are built the same way, with LDADD below.
unit_tests = \
	%D%/unit/agree \
	%D%/unit/agree-siblings \
	%D%/unit/agree-recheck \
	%D%/unit/bench \
	%D%/unit/bench-search \
	%D%/unit/shm \
	%D%/unit/budget \
	%D%/unit/calibrate-task \
	%D%/unit/race \
	%D%/unit/request \
	%D%/unit/cgroup \
	%D%/unit/chain \
	%D%/unit/chain-steady \
	%D%/unit/coll \
	%D%/unit/collect \
	%D%/unit/dumpxml \
	%D%/unit/report-topology \
	%D%/unit/behind \
	%D%/unit/calls \
	%D%/unit/topology \
	%D%/unit/collect-directory \
	%D%/unit/compare \
	%D%/unit/engine \
	%D%/unit/cost-account \
	%D%/unit/engine-recheck \
	%D%/unit/engine-rates \
	%D%/unit/engine-savings \
	%D%/unit/engine-warm \
	%D%/unit/estimate \
	%D%/unit/lists \
	%D%/unit/log-entry \
	%D%/unit/fingerprint \
	%D%/unit/facts \
	%D%/unit/finding-stats \
	%D%/unit/findings \
	%D%/unit/p2p \
	%D%/unit/parallelism \
	%D%/unit/option \
	%D%/unit/order \
	%D%/unit/profile-env \
	%D%/unit/ask-launch \
	%D%/unit/event-match \
	%D%/unit/event-slot \
	%D%/unit/lateness \
	%D%/unit/layout \
	%D%/unit/long \
	%D%/unit/longform \
	%D%/unit/measures \
	%D%/unit/matched \
	%D%/unit/numbers \
	%D%/unit/step-entry \
	%D%/unit/remember \
	%D%/unit/select \
	%D%/unit/claim \
	%D%/unit/program \
	%D%/unit/step-ratio \
	%D%/unit/memory \
	%D%/unit/user-env \
	%D%/unit/select-input \
	%D%/unit/profile \
	%D%/unit/select-sim \
	%D%/unit/memory-store \
	%D%/unit/ticket \
	%D%/unit/ll128 \
	%D%/unit/marker \
	%D%/unit/slowdown \
	%D%/unit/stretch \
	%D%/unit/mask \
	%D%/unit/mpi-library \
	%D%/unit/read-pace \
	%D%/unit/precheck \
	%D%/unit/platform \
	%D%/unit/proxy-pool \
	%D%/unit/policy \
	%D%/unit/json-writer \
	%D%/unit/scheduler \
	%D%/unit/refine \
	%D%/unit/child \
	%D%/unit/report-jobid \
	%D%/unit/report-jobs \
	%D%/unit/name-set \
	%D%/unit/report-longform \
	%D%/unit/report-places \
	%D%/unit/report-print \
	%D%/unit/report-jobstream \
	%D%/unit/report-rank \
	%D%/unit/report-reasons \
	%D%/unit/reason-lines \
	%D%/unit/spool \
	%D%/unit/rows \
	%D%/unit/report-summary \
	%D%/unit/report-verdict \
	%D%/unit/site-stats \
	%D%/unit/stats-print \
	%D%/unit/when \
	%D%/unit/replay-record \
	%D%/unit/schedule \
	%D%/unit/follow-lines \
	%D%/unit/spank-mpi \
	%D%/unit/site-conf \
	%D%/unit/site-rules \
	%D%/unit/sum-rows \
	%D%/unit/schema \
	%D%/unit/admincomment-merge \
	%D%/unit/call-interval \
	%D%/unit/window-layout \
	%D%/unit/printable \
	%D%/unit/step \
	%D%/unit/cleanup \
	%D%/unit/process-abi \
	%D%/unit/decide-recheck \
	%D%/unit/decide-rest \
	%D%/unit/costs \
	%D%/unit/decide-plan \
	%D%/unit/delivery \
	%D%/unit/decide-doubt \
	%D%/unit/process-life \
	%D%/unit/process-warm \
	%D%/unit/decide-cap \
	%D%/unit/decide-steady \
	%D%/unit/times \
	%D%/unit/two-jobs \
	%D%/unit/warm \
	%D%/unit/where \
	%D%/unit/work \
	%D%/unit/write-record

if HAVE_CUDA_NCCL
unit_tests += %D%/unit/bench-abi
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
tests_unit_bench_LDADD = libnt-bench.a libnt-lib.a libnt-contract.a $(CMOCKA_LIBS)
tests_unit_bench_search_LDADD = libnt-bench.a $(profiles_libs) $(CMOCKA_LIBS)
tests_unit_bench_abi_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_unit_bench_abi_LDADD = $(CMOCKA_LIBS)

# Simulated hosts and workloads that the cluster tests start.
noinst_PROGRAMS += tests/fake/pmix-exchange
tests_fake_pmix_exchange_SOURCES = %D%/fake/pmix-exchange.c
tests_fake_pmix_exchange_LDADD =

# The logs of nodes, over the PMIx that a step really has.
noinst_PROGRAMS += tests/fake/nt-log-peer
tests_fake_nt_log_peer_SOURCES = %D%/fake/log-peer.c
tests_fake_nt_log_peer_LDADD = libnt-sync.a libnt-contract.a

# Kills at a chosen step of the agreement.
noinst_PROGRAMS += tests/kill/nt-strike
tests_kill_nt_strike_SOURCES = %D%/kill/strike.c
tests_kill_nt_strike_LDADD =

# Traces of real steps, held against the model. The traced plugin is built on demand, by cluster/81-trace.bats.
noinst_PROGRAMS += tests/model/nt-trace-check
tests_model_nt_trace_check_SOURCES = \
	%D%/model/trace.h \
	%D%/model/trace-check.c \
	%D%/model/trace-check.h \
	%D%/model/trace-file.h \
	%D%/model/trace-main.c
tests_model_nt_trace_check_LDADD =
EXTRA_PROGRAMS = tests/model/nt-traced.so
tests_model_nt_traced_so_SOURCES = \
	%D%/model/trace.c \
	%D%/model/trace-atomics.h \
	%D%/model/trace-wrap.c \
	%D%/model/trace-wrap.h \
	%D%/model/trace-write.c \
	$(libnt_sync_a_SOURCES) \
	$(libnt_tuner_a_SOURCES)
tests_model_nt_traced_so_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE -include $(top_srcdir)/tests/model/trace-atomics.h
# An access may be in the value of another.
tests_model_nt_traced_so_CFLAGS = $(AM_CFLAGS) -Wno-shadow
tests_model_nt_traced_so_LDADD = libnt-engine.a libnt-record.a libnt-contract.a
tests_model_nt_traced_so_LDFLAGS = $(module_ldflags) $(NT_NO_UNDEFINED) -Wl,-z,nodelete \
	-Wl,--version-script=$(top_srcdir)/tuner/libnccl-tune.map \
	-Wl,@$(top_srcdir)/tests/model/trace-wrapped \
	-Wl,--wrap=nt_shm_open -Wl,--wrap=nt_shm_open_sealed -Wl,--wrap=nt_log_append

# What an ordinary user may do to a step's directory and its shared memory.
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
tests_unit_engine_rates_SOURCES = %D%/unit/engine-rates.c %D%/fake/noise.c
tests_unit_engine_rates_LDADD = libnt-drive.a libnt-engine.a libnt-contract.a $(CMOCKA_LIBS)

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
# Sums on them, checked.
noinst_PROGRAMS += tests/simlib/nt-sim-sums
tests_simlib_nt_sim_sums_SOURCES = %D%/simlib/sums.c
tests_simlib_nt_sim_sums_LDADD = tests/simlib/libnccl.so.2 tests/simlib/libcudart.so.13
tests_simlib_nt_sim_sums_LDFLAGS = -Wl,-rpath,'$$ORIGIN/simulated'

# Stands in for an MPI library; it must be called like one.
noinst_PROGRAMS += tests/fake/libmpi-fake.so
tests_fake_libmpi_fake_so_SOURCES = %D%/fake/mpi.c
tests_fake_libmpi_fake_so_LDADD =
tests_fake_libmpi_fake_so_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_fake_libmpi_fake_so_LDFLAGS = $(module_ldflags)

# Pages of `nccl-tune report --html` without Slurm.
noinst_PROGRAMS += tests/page/nt-page
tests_page_nt_page_SOURCES = %D%/page/page.c
tests_page_nt_page_LDADD = libnt-cli.a libnt-report.a libnt-profiles-plain.a $(record_libs)

# What is read or run as it is. tests/lint/archive.bats compares the archive with the tracked files.
EXTRA_DIST += \
	%D%/README.md \
	%D%/chain/chain.bats \
	%D%/chain/vendors.bats \
	%D%/cluster/05-dev.bats \
	%D%/cluster/10-spank-option.bats \
	%D%/cluster/11-spank-step.bats \
	%D%/cluster/12-site-file.bats \
	%D%/cluster/13-site-nodes.bats \
	%D%/cluster/14-user-file.bats \
	%D%/cluster/20-record-rank.sh \
	%D%/cluster/20-record-write.bats \
	%D%/cluster/21-record-trouble.bats \
	%D%/cluster/22-record-controller.bats \
	%D%/cluster/23-record-sink.bats \
	%D%/cluster/25-record-long.bats \
	%D%/cluster/30-report-backfill.bats \
	%D%/cluster/30-report-job.bats \
	%D%/cluster/40-log.bats \
	%D%/cluster/50-job.bats \
	%D%/cluster/52-late.bats \
	%D%/cluster/54-findings.bats \
	%D%/cluster/55-shapes.bats \
	%D%/cluster/56-chain.bats \
	%D%/cluster/60-failures.bats \
	%D%/cluster/62-stall.bats \
	%D%/cluster/63-directory.bats \
	%D%/cluster/70-launch.bats \
	%D%/cluster/72-simulated.bats \
	%D%/cluster/73-calibrate-task.bats \
	%D%/cluster/75-launch-profile.bats \
	%D%/cluster/76-launch-job.bats \
	%D%/cluster/76-memory.bats \
	%D%/cluster/77-calibrate.bats \
	%D%/cluster/78-memory-command.bats \
	%D%/cluster/79-bench.bats \
	%D%/cluster/80-kill.bats \
	%D%/cluster/81-trace.bats \
	%D%/cluster/82-async.bats \
	%D%/cluster/84-container.bats \
	%D%/cluster/84-container.sh \
	%D%/cluster/85-packages.bats \
	%D%/cluster/86-helper.bats \
	%D%/cmd/completion.bats \
	%D%/cmd/prometheus.bats \
	%D%/cmd/summary.bats \
	%D%/fake/arms.bats \
	%D%/fake/calibrate-task.bats \
	%D%/fake/clean.bats \
	%D%/fake/fake-nccl.bats \
	%D%/fake/launch-srun.bats \
	%D%/fake/late.bats \
	%D%/fake/fabric.bats \
	%D%/fake/ll128.bats \
	%D%/fake/made-up-jobs.sh \
	%D%/fake/marker.bats \
	%D%/fake/reasons.bats \
	%D%/fake/record.bats \
	%D%/fake/resources.bats \
	%D%/fake/newer.bats \
	%D%/fake/p2p.bats \
	%D%/fake/reward.bats \
	%D%/fake/touch-task.sh \
	%D%/fake/warm.bats \
	%D%/install/as-printed \
	%D%/install/commands.awk \
	%D%/install/guide-admin.bats \
	%D%/install/guide-user.bats \
	%D%/install/readme.bats \
	%D%/install/site-up \
	%D%/install/systemctl \
	%D%/kill/kill.bash \
	%D%/kill/matrix.sh \
	%D%/kill/rank.sh \
	%D%/kill/sum.py \
	%D%/launch/children.c \
	%D%/launch/ends.c \
	%D%/launch/job.py \
	%D%/launch/load.h \
	%D%/launch/mpi-job.c \
	%D%/launch/mpi-order.c \
	%D%/lib/chroot.bash \
	%D%/lib/cluster \
	%D%/lib/cluster-config.bash \
	%D%/lib/cluster-process.bash \
	%D%/lib/cluster.bash \
	%D%/lib/arm64-unit \
	%D%/lib/arm64.bash \
	%D%/lib/chrome.bash \
	%D%/lib/copy.bash \
	%D%/lib/demo.bash \
	%D%/lib/fuzz.bash \
	%D%/lib/guides.bash \
	%D%/lib/image.bash \
	%D%/lib/jobs.bash \
	%D%/lib/packages.bash \
	%D%/lib/plan \
	%D%/lib/policy.bash \
	%D%/lib/records.bash \
	%D%/lib/sacct.bash \
	%D%/lib/schema.h \
	%D%/lib/site.bash \
	%D%/lib/tiers.bash \
	%D%/lib/unit.h \
	%D%/lint/archive.bats \
	%D%/lint/circles.awk \
	%D%/lint/circles.bats \
	%D%/lint/clean.bats \
	%D%/lint/dev.bats \
	%D%/lint/docs.bats \
	%D%/lint/edges.awk \
	%D%/lint/exports.bats \
	%D%/lint/format.bats \
	%D%/lint/layering.bats \
	%D%/lint/packages.bats \
	%D%/lint/record.bats \
	%D%/lint/sources.bash \
	%D%/lint/sources.bats \
	%D%/lint/threats.bats \
	%D%/lint/trouble.awk \
	%D%/lint/trouble.bats \
	%D%/model/accesses.awk \
	%D%/model/agree.pml \
	%D%/model/check.sh \
	%D%/model/model.bats \
	%D%/model/orders.bats \
	%D%/model/orders.c \
	%D%/model/orders-explorer.c \
	%D%/model/orders-explorer.h \
	%D%/model/orders.h \
	%D%/model/orders-litmus.c \
	%D%/model/orders-litmus.h \
	%D%/model/orders-main.c \
	%D%/model/orders-parts.c \
	%D%/model/orders-parts.h \
	%D%/model/orders-plain.c \
	%D%/model/orders.sh \
	%D%/model/trace-wrapped \
	%D%/model/traces.bats \
	%D%/page/data/fsdp/rank.0.4722.json \
	%D%/page/data/fsdp/rank.1.4719.json \
	%D%/page/data/gpu/0.n1.jsonl.gz \
	%D%/page/data/gpu/0.n2.jsonl.gz \
	%D%/page/keys.jq \
	%D%/page/page.bats \
	%D%/page/screenshots.sh \
	%D%/traces/h200-1x8-seq.csv \
	%D%/traces/h200-2x4-10gbit.csv \
	%D%/traces/h200-2x4-launch-knobs.csv \
	%D%/traces/h200-2x4-ovl.csv \
	%D%/traces/h200-2x4-seq.csv \
	%D%/traces/h200-auto-picks.csv \
	%D%/tsan/threads.bats \
	%D%/unit/agree-pair.h \
	%D%/unit/data/kept/v1-job.json \
	%D%/unit/data/kept/v1-part.jsonl \
	%D%/unit/data/topology/graphs-h200-1x2.xml \
	%D%/unit/data/topology/graphs-h200-2x1-n1.xml \
	%D%/unit/data/topology/graphs-h200-2x1-n2.xml \
	%D%/unit/data/topology/graphs-ib.xml \
	%D%/unit/data/topology/graphs-socket.xml \
	%D%/unit/data/topology/h200-1x2.json \
	%D%/unit/data/topology/h200-2x1-n1.json \
	%D%/unit/data/topology/h200-2x1-n2.json \
	%D%/unit/data/topology/system-h200-1x2.xml \
	%D%/unit/data/topology/system-h200-2x1-n1.xml \
	%D%/unit/data/topology/system-h200-2x1-n2.xml \
	%D%/unit/data/topology/system-ib.xml \
	%D%/unit/data/topology/system-socket.xml \
	%D%/unit/data/report/damaged.json \
	%D%/unit/data/report/damaged.txt \
	%D%/unit/data/report/differs.json \
	%D%/unit/data/report/differs.txt \
	%D%/unit/data/report/empty.json \
	%D%/unit/data/report/empty.txt \
	%D%/unit/data/report/full.json \
	%D%/unit/data/report/full.out.json \
	%D%/unit/data/report/full.prom \
	%D%/unit/data/report/full.txt \
	%D%/unit/data/report/launch.json \
	%D%/unit/data/report/launch.out.json \
	%D%/unit/data/report/launch.txt \
	%D%/unit/data/report/short.json \
	%D%/unit/data/report/short.txt \
	%D%/unit/data/report/wide.json \
	%D%/unit/data/report/wide.txt \
	%D%/unit/engine-bench.h \
	%D%/unit/fake-sacct.h \
	%D%/unit/calibrate-world.h \
	%D%/unit/select-world.h \
	%D%/unit/room.h \
	%D%/unit/scratch.h \
	%D%/unit/task-env.h \
	%D%/unit/sanitized.h \
	%D%/unit/process-child.h \
	%D%/unit/decide-host.h \
	%D%/unit/steady.h \
	%D%/unit/table-file.h
