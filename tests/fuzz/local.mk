# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# Targets for libFuzzer: ./dev fuzz and ./dev test build them, with clang, in build-fuzz. A target is tests/fuzz/NAME.c,
# NAME in FUZZ_TARGETS of tests/lib/fuzz.bash, one line in EXTRA_PROGRAMS and two at the end.

fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_LIBRARIES = libnt-fuzz.a
libnt_fuzz_a_SOURCES = %D%/fuzz.c %D%/fuzz.h
fuzz_engine =
fuzz_ldadd = libnt-fuzz.a $(LDADD) $(fuzz_engine)

EXTRA_PROGRAMS = \
	%D%/agree \
	%D%/shm \
	%D%/log-entry \
	%D%/arguments \
	%D%/host \
	%D%/long \
	%D%/memory \
	%D%/option \
	%D%/page \
	%D%/policy \
	%D%/profile \
	%D%/record \
	%D%/report \
	%D%/site \
	%D%/summary \
	%D%/admincomment-merge \
	%D%/ticket \
	%D%/topology

# The real plugin on a clock that goes on by itself.
world_sources = %D%/world.c %D%/world.h
world_ldflags = $(fuzz_ldflags) -Wl,--wrap=clock_gettime -Wl,--wrap=nanosleep
tests_fuzz_agree_SOURCES = %D%/agree.c $(world_sources)
tests_fuzz_agree_LDFLAGS = $(world_ldflags)
tests_fuzz_agree_LDADD = $(fuzz_ldadd)
tests_fuzz_shm_SOURCES = %D%/shm.c $(world_sources)
tests_fuzz_shm_LDFLAGS = $(world_ldflags)
tests_fuzz_shm_LDADD = $(fuzz_ldadd)

tests_fuzz_log_entry_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_log_entry_LDADD = $(fuzz_ldadd)
tests_fuzz_arguments_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_arguments_LDADD = $(fuzz_ldadd)
tests_fuzz_host_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_host_LDADD = $(fuzz_ldadd)
tests_fuzz_long_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_long_LDADD = $(fuzz_ldadd)
tests_fuzz_memory_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_memory_LDADD = $(fuzz_ldadd)
tests_fuzz_option_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_option_LDADD = $(fuzz_ldadd)
tests_fuzz_policy_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_policy_LDADD = $(fuzz_ldadd)
tests_fuzz_profile_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_profile_LDADD = $(fuzz_ldadd)
tests_fuzz_record_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_record_LDADD = $(fuzz_ldadd)
tests_fuzz_report_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_report_LDADD = $(fuzz_ldadd)
tests_fuzz_site_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_site_LDADD = $(fuzz_ldadd)
tests_fuzz_admincomment_merge_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_admincomment_merge_LDADD = $(fuzz_ldadd)
tests_fuzz_ticket_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_ticket_LDADD = $(fuzz_ldadd)
tests_fuzz_topology_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_topology_LDADD = $(fuzz_ldadd)
tests_fuzz_page_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_page_LDADD = $(fuzz_ldadd)
tests_fuzz_summary_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_summary_LDADD = $(fuzz_ldadd)

EXTRA_DIST += %D%/build.sh %D%/elsewhere.bats .clusterfuzzlite/Dockerfile .clusterfuzzlite/project.yaml
