# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Research: what is compared, simulated and measured. It is built with the tests and never installed; nothing includes it.

# Decisions of jobs, and on traces.
noinst_PROGRAMS += lab/replay/nt-replay
lab_replay_nt_replay_SOURCES = %D%/replay/main.c
lab_replay_nt_replay_LDADD = $(replay_libs) libnt-report.a $(spank_libs) libnt-engine.a $(record_libs) $(SLURM_LIBS) \
	$(INIH_LIBS)

# The agreement in simulation.
noinst_PROGRAMS += lab/sim/nt-agree-sim
# Compiled with the state machine, so that ranks and node leaders meet between any two accesses to shared memory.
lab_sim_nt_agree_sim_SOURCES = \
	%D%/sim/agree-sim.c \
	%D%/sim/comms.c \
	%D%/sim/interleave.h \
	%D%/sim/network.c \
	%D%/sim/rank.c \
	%D%/sim/sim.h \
	%D%/sim/tally.c \
	%D%/sim/trace.c \
	%D%/sim/tuner.c \
	%D%/sim/world.c \
	tests/model/trace.c \
	tests/model/trace.h \
	tests/model/trace-check.c \
	tests/model/trace-check.h \
	tests/model/trace-wrap.c \
	tests/model/trace-wrap.h \
	$(libnt_sync_a_SOURCES)
lab_sim_nt_agree_sim_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/lab/sim/interleave.h
lab_sim_nt_agree_sim_LDFLAGS = $(AM_LDFLAGS) -Wl,@$(top_srcdir)/tests/model/trace-wrapped
lab_sim_nt_agree_sim_LDADD = libnt-contract.a
TESTS += %D%/sim/agree-quick

# Training programs in virtual time: the real plugin, a copy for each node, in one process.
noinst_PROGRAMS += lab/programs/nt-programs
lab_programs_nt_programs_SOURCES = \
	%D%/programs/gpu.c \
	%D%/programs/gpu.h \
	%D%/programs/libc.c \
	%D%/programs/main.c \
	%D%/programs/node-shm.c \
	%D%/programs/node-shm.h \
	%D%/programs/plugin.c \
	%D%/programs/plugin.h \
	%D%/programs/pmix.c \
	%D%/programs/pmix.h \
	%D%/programs/program.c \
	%D%/programs/program.h \
	%D%/programs/report.c \
	%D%/programs/report.h \
	%D%/programs/said.c \
	%D%/programs/said.h \
	%D%/programs/settings.c \
	%D%/programs/settings.h \
	%D%/programs/truth.c \
	%D%/programs/truth.h \
	%D%/programs/vtime.c \
	%D%/programs/vtime.h \
	%D%/programs/watch.c \
	%D%/programs/watch.h \
	%D%/programs/world.c \
	%D%/programs/world.h
lab_programs_nt_programs_LDADD = $(fake_libs) libnt-sync.a libnt-recordd.a $(record_libs)
# What it loads finds PMIx, NCCL's version, clocks and threads here before it looks elsewhere.
lab_programs_nt_programs_CFLAGS = $(AM_CFLAGS) -fvisibility=default
lab_programs_nt_programs_LDFLAGS = -rdynamic

# How good the engine's choices are, on made-up noise.
noinst_PROGRAMS += lab/stats/nt-engine-sim
lab_stats_nt_engine_sim_SOURCES = \
	%D%/stats/engine-sim.c \
	%D%/stats/rates.c \
	%D%/stats/sim.h \
	%D%/stats/source.c \
	tests/fake/noise.c \
	tests/fake/noise.h
lab_stats_nt_engine_sim_LDADD = $(replay_libs) libnt-engine.a libnt-contract.a

unit-needs: lab/sim/nt-agree-sim

EXTRA_DIST += \
	%D%/README.md \
	%D%/programs/400-sizes.program \
	%D%/programs/bursts.program \
	%D%/programs/ddp-1b.program \
	%D%/programs/ddp-tcp.program \
	%D%/programs/decode.program \
	%D%/programs/fsdp2-7b.program \
	%D%/programs/gap-750us.program \
	%D%/programs/late-rank.program \
	%D%/programs/many-sizes.program \
	%D%/programs/many-tiny.program \
	%D%/programs/moe.program \
	%D%/programs/once-in-5s.program \
	%D%/programs/pauses.program \
	%D%/programs/programs.bats \
	%D%/programs/sizes-in-turn.program \
	%D%/programs/steps-of-11s.program \
	%D%/programs/steps-of-3s.program \
	%D%/programs/tiny-and-sizes.program \
	%D%/programs/tp-dp-shared.program \
	%D%/programs/tp-dp-world.program \
	%D%/programs/tp8-dp8-pp2.program \
	%D%/programs/twice-in-a-burst.program \
	%D%/programs/two-minutes.program \
	%D%/programs/wide-node.program \
	%D%/replay/replay.bats \
	%D%/sim/agree-quick \
	%D%/sim/build.sh \
	%D%/sim/mutants.sh \
	%D%/sim/results.sh \
	%D%/stats/rules.sh
