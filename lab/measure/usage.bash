# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# usage.bash - sourced by the scripts here: -h or --help prints the script's head; another first option is refused

usage() {
	sed -n '5,/^[^#]/{s/^# \{0,1\}//p}' "$0"
	exit "${1:-2}"
}

case ${1:-} in
-h|--help) usage 0 ;;
-*) usage >&2 ;;
esac
