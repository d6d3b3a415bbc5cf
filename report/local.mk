# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# nccl-tune, the command.

noinst_LTLIBRARIES += libnt-report.la
libnt_report_la_SOURCES = \
	%D%/accounting.c \
	%D%/accounting.h \
	%D%/allocation.c \
	%D%/allocation.h \
	%D%/answer.c \
	%D%/answer.h \
	%D%/backfill.c \
	%D%/calibrate.c \
	%D%/calibration.c \
	%D%/calibration.h \
	%D%/calls.c \
	%D%/calls.h \
	%D%/calrun.c \
	%D%/calrun.h \
	%D%/caltable.c \
	%D%/caltable.h \
	%D%/command.c \
	%D%/command.h \
	%D%/config.c \
	%D%/config.h \
	%D%/config-check.c \
	%D%/controller.c \
	%D%/controller.h \
	%D%/database.c \
	%D%/database.h \
	%D%/speedup.c \
	%D%/speedup.h \
	%D%/draft.c \
	%D%/draft.h \
	%D%/explored.c \
	%D%/explored.h \
	%D%/fair.c \
	%D%/fair.h \
	%D%/fingerprint.c \
	%D%/html.c \
	%D%/html.h \
	%D%/htmldata.c \
	%D%/fleet.c \
	%D%/inventory.c \
	%D%/inventory.h \
	%D%/jobid.c \
	%D%/jobid.h \
	%D%/joblist.c \
	%D%/joblist.h \
	%D%/jobload.c \
	%D%/jobload.h \
	%D%/jobstream.c \
	%D%/jobstream.h \
	%D%/jobtext.c \
	%D%/jobtext.h \
	%D%/join.c \
	%D%/join.h \
	%D%/json.c \
	%D%/jsonvalue.c \
	%D%/jsonvalue.h \
	%D%/learn.c \
	%D%/learned.c \
	%D%/learned.h \
	%D%/linkshare.c \
	%D%/linkshare.h \
	%D%/longform.c \
	%D%/longform.h \
	%D%/marked.c \
	%D%/marked.h \
	%D%/memory.c \
	%D%/output.c \
	%D%/output.h \
	%D%/names.c \
	%D%/names.h \
	%D%/places.c \
	%D%/places.h \
	%D%/print.c \
	%D%/print.h \
	%D%/prometheus.c \
	%D%/prometheus.h \
	%D%/reasons.c \
	%D%/reasons.h \
	%D%/recordplaces.c \
	%D%/recordplaces.h \
	%D%/remembered.h \
	%D%/remembered-move.c \
	%D%/remembered-show.c \
	%D%/report.c \
	%D%/request.c \
	%D%/request.h \
	%D%/screen.c \
	%D%/screen.h \
	%D%/rowtext.c \
	%D%/rowtext.h \
	%D%/rowtime.c \
	%D%/rowtime.h \
	%D%/rowcut.c \
	%D%/rowcut.h \
	%D%/runs.c \
	%D%/runs.h \
	%D%/seconds.c \
	%D%/seconds.h \
	%D%/backlog.c \
	%D%/backlog.h \
	%D%/show.c \
	%D%/sentence.h \
	%D%/steprun.c \
	%D%/steprun.h \
	%D%/table.c \
	%D%/table.h \
	%D%/tally.c \
	%D%/tally.h \
	%D%/tally-cell.c \
	%D%/tally-cell.h \
	%D%/tally-csv.c \
	%D%/tally-json.c \
	%D%/tally-print.h \
	%D%/tally-prometheus.c \
	%D%/tally-profiles.c \
	%D%/tally-reasons.c \
	%D%/tally-text.c \
	%D%/tallyjob.c \
	%D%/tallyjob.h \
	%D%/tallytop.c \
	%D%/tallytop.h \
	%D%/topology.c \
	%D%/topology.h \
	%D%/topologyjson.c \
	%D%/topologytext.c \
	%D%/terminal.c \
	%D%/terminal.h \
	%D%/watch.c \
	%D%/watchfiles.c \
	%D%/watchfiles.h \
	%D%/watchframe.c \
	%D%/watchframe.h \
	%D%/watchload.c \
	%D%/watchload.h \
	%D%/watchstate.c \
	%D%/watchstate.h \
	%D%/watchverdict.c \
	%D%/watchverdict.h \
	%D%/usertext.c \
	%D%/usertext.h \
	%D%/values.c \
	%D%/values.h \
	%D%/verdict.c \
	%D%/verdict.h \
	%D%/verdict-maker.c \
	%D%/verdict-maker.h \
	%D%/verdict-net.c \
	%D%/verdict-topology.c \
	%D%/verdict-why.c \
	%D%/words.c \
	%D%/words.h \
	%D%/when.c \
	%D%/when.h \
	%D%/wrap.c \
	%D%/wrap.h
nodist_libnt_report_la_SOURCES = %D%/html/page.c
libnt_report_la_LIBADD = libnt-contract.la -lm

# The page of `nccl-tune report --html`, one C file of these; the scripts in this order.
html_page = %D%/html/page.html %D%/html/style.css
html_scripts = \
	%D%/html/dom.js \
	%D%/html/units.js \
	%D%/html/rows.js \
	%D%/html/data.js \
	%D%/html/choice.js \
	%D%/html/arms.js \
	%D%/html/course.js \
	%D%/html/comms.js \
	%D%/html/topology.js \
	%D%/html/predicted.js \
	%D%/html/table.js \
	%D%/html/page.js
EXTRA_DIST += $(html_page) $(html_scripts) %D%/html/assemble
CLEANFILES += %D%/html/page.c
%D%/html/page.c: $(html_page) $(html_scripts) %D%/html/assemble
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cd $(srcdir) && \
		%D%/html/assemble $(html_page) $(html_scripts) >$(abs_builddir)/$@.new && \
		mv $(abs_builddir)/$@.new $(abs_builddir)/$@

bin_PROGRAMS += nccl-tune
nccl_tune_SOURCES = %D%/main.c
nccl_tune_LDADD = libnt-replay.la libnt-report.la libnt-spank.la libnt-launch.la libnt-engine.la \
	libnt-record-read.la libnt-contract.la \
	$(JSON_C_LIBS) $(HWLOC_LIBS) $(SLURM_LIBS) $(INIH_LIBS)
