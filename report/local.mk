# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# A job as its records tell it, and its views. In the command, with the caller's rights; json-c.

noinst_LIBRARIES += libnt-report.a
libnt_report_a_SOURCES = \
	%D%/html/html.c \
	%D%/html/html.h \
	%D%/metrics/report-json.c \
	%D%/metrics/report-json.h \
	%D%/metrics/prometheus.c \
	%D%/metrics/prometheus.h \
	%D%/model/accounting.c \
	%D%/model/accounting.h \
	%D%/model/controller.c \
	%D%/model/controller.h \
	%D%/model/database.c \
	%D%/model/database.h \
	%D%/model/job-figures.c \
	%D%/model/job-figures.h \
	%D%/model/jobid.c \
	%D%/model/jobid.h \
	%D%/model/joblist.c \
	%D%/model/joblist.h \
	%D%/model/jobload.c \
	%D%/model/jobload.h \
	%D%/model/jobstate.c \
	%D%/model/jobstate.h \
	%D%/model/jobtext.c \
	%D%/model/jobtext.h \
	%D%/model/longform-search.c \
	%D%/model/longform-search.h \
	%D%/model/launch-paths.c \
	%D%/model/launch-paths.h \
	%D%/model/site-config.c \
	%D%/model/site-config.h \
	%D%/model/record-merge.c \
	%D%/model/record-merge.h \
	%D%/model/row-time.c \
	%D%/model/row-time.h \
	%D%/model/sacct-jobs.c \
	%D%/model/sacct-jobs.h \
	%D%/model/sacct-runs.c \
	%D%/model/sacct-runs.h \
	%D%/model/topology-compare.c \
	%D%/model/topology-compare.h \
	%D%/summary/finding-stats.c \
	%D%/summary/finding-stats.h \
	%D%/summary/site-stats.c \
	%D%/summary/site-stats.h \
	%D%/summary/stats-json.c \
	%D%/summary/stats-print.h \
	%D%/summary/stats-prometheus.c \
	%D%/summary/stats-text.c \
	%D%/text/findings.c \
	%D%/text/findings.h \
	%D%/text/follow-lines.c \
	%D%/text/follow-lines.h \
	%D%/text/print.c \
	%D%/text/print.h \
	%D%/text/reasons.c \
	%D%/text/reasons.h \
	%D%/text/row-text.c \
	%D%/text/row-text.h \
	%D%/text/topology-text.c \
	%D%/text/two-jobs.c \
	%D%/text/two-jobs.h \
	%D%/text/verdict.c \
	%D%/text/verdict.h \
	%D%/text/verdict-maker.c \
	%D%/text/verdict-maker.h \
	%D%/text/sentence.h \
	%D%/text/verdict-late.c \
	%D%/text/verdict-job.c \
	%D%/text/verdict-topology.c \
	%D%/text/verdict-why.c \
	%D%/text/words.c \
	%D%/text/words.h
nodist_libnt_report_a_SOURCES = %D%/html/page.c

# The page of `nccl-tune report --html`, one C file of these; the scripts in this order.
html_page = %D%/html/page.html %D%/html/style.css
html_scripts = \
	%D%/html/dom.js \
	%D%/html/units.js \
	%D%/html/rows.js \
	%D%/html/data.js \
	%D%/html/choice.js \
	%D%/html/late.js \
	%D%/html/steps.js \
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
