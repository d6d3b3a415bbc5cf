#!/usr/bin/env bats
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# What is installed belongs to one Debian and one rpm package, and they name nothing else. Needs an installed tree
# (NT_STAGE).
bats_require_minimum_version 1.5.0
load sources

setup() {
	export LC_ALL=C
	stage=${NT_STAGE:-$BATS_TEST_DIRNAME/../../build/stage}
	[ -e "$stage/bin/nccl-tune" ] || skip "nothing is installed in $stage"
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
}

# As a package has it: without test programs.
installed() {
	(cd "$stage" && find . -type f | sed -n 's,^\./,,p') |
		grep -v '^libexec/nccl-tune/tests/' |
		sed -E "s,^lib/(systemd/system|tmpfiles\.d)/,UNITS/\1/,; s,^lib/slurm/,SLURM/,; s,^lib/,LIB/,; s,^(bin|libexec|share|etc)/,usr/\1/,"
}

# A line of two words takes a file of the tree to where `make install` puts none.
debian_lists() {
	grep -hv ' ' packaging/debian/*.install |
		sed -E 's,^(usr/)?lib/(systemd/system|tmpfiles\.d)/,UNITS/\2/,; s,^usr/lib/\*/slurm-wlm/,SLURM/,; s,^usr/lib/\*/,LIB/,'
}

rpm_list() {
	sed -nE '/^%files/,${ /^%\{/p }' packaging/nccl-tune.spec.in |
		sed -E 's,%\{_unitdir\},UNITS/systemd/system,; s,%\{_tmpfilesdir\},UNITS/tmpfiles.d,;
			s,%\{slurm_plugin_dir\},SLURM,; s,%\{_libdir\},LIB,; s,%\{_bindir\},usr/bin,; s,%\{_libexecdir\},usr/libexec,;
			s,%\{_mandir\},usr/share/man,; s,%\{_docdir\},usr/share/doc,; s,%\{_datadir\},usr/share,; s,\*$,,'
}

# misses PATTERNS: installed files that no line is a beginning of, lines that name nothing, files that two name.
misses() {
	awk 'NR == FNR { line[++n] = $0; next }
		{ found = 0
		for (i = 1; i <= n; i++)
			if (index($0, line[i]) == 1 && substr($0, length(line[i]) + 1) ~ /^($|\/)/) { found++; used[i] = 1 }
		if (found == 0) print $0 " is in no package"
		if (found > 1) print $0 " is in " found " packages" }
		END { for (i = 1; i <= n; i++) if (!used[i]) print line[i] " is not installed" }' "$1" -
}

@test "every installed file is in one Debian package" {
	debian_lists >"$BATS_TEST_TMPDIR/lists"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/lists")" -gt 5 ]
	none "$(installed | misses "$BATS_TEST_TMPDIR/lists")"
}

@test "every installed file is in one rpm package" {
	rpm_list >"$BATS_TEST_TMPDIR/lists"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/lists")" -gt 9 ]
	none "$(installed | misses "$BATS_TEST_TMPDIR/lists")"
}
