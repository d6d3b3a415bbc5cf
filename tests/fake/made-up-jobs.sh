#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
#
# made-up-jobs.sh - SQL that gives a mini cluster's accounting so many jobs that have ended, with records
#
#   made-up-jobs.sh JOBS UNTIL [DAYS]   ended in the DAYS (30) before UNTIL, seconds since 1970; the same for the same words
#
# Of twenty jobs four have no record, one another program's text, one a damaged record. The others' are of one to three
# steps, with up to 24 collectives and sizes. Four users have 70 % of the jobs.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '5,/^[^#]/{s/^# \{0,1\}//p}' "$0" >&2; exit 2; }

user_columns=
user_columns+=creation_time,mod_time,user,acct,id_assoc,lft,rgt,max_tres_pj,max_tres_pn,max_tres_mins_pj,
user_columns+=max_tres_run_mins,grp_tres,grp_tres_mins,grp_tres_run_mins,qos,delta_qos
job_columns=
job_columns+=mod_time,account,admin_comment,cpus_req,job_name,id_assoc,id_job,id_resv,id_wckey,id_user,id_group,
job_columns+='het_job_id,het_job_offset,state_reason_prev,nodes_alloc,`partition`,priority,state,time_submit,'
job_columns+=time_eligible,time_start,time_end

awk -v user_columns="$user_columns" -v job_columns="$job_columns" -v jobs="$1" -v until="$2" -v days="${3:-30}" '
	function pick(n) { return int(rand() * n) }
	function row(coll, bytes, us, ranks,   gain, arm, calls, text) {
		calls = 200 + pick(20000)
		gain = pick(100) < 30 ? 4 + rand() * 40 : rand() * 3
		arm = gain >= 4 ? "TREE/SIMPLE" : "AUTO"
		text = sprintf("\"%s %s\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"%s\",\"us\":[%.1f,%.1f],", coll, bytes, arm,
			us, us * (1 - gain / 100))
		text = text sprintf("\"own_us\":[%.1f,%.1f],\"p\":%.3g,\"samples\":24,\"calls\":%d,\"spent_calls\":135,\"spent_ms\":%.1f,\"saved_ms\":%.1f",
			us * 0.8, us * 0.8 * (1 - gain / 100), gain >= 4 ? 0.0001 : 0.3, calls, rand() * us / 10,
			gain >= 4 ? calls * us * gain / 1e5 : 0)
		if (gain < 4)
			text = text ",\"why\":\"" (pick(3) ? "screened" : "small") "\""
		return text sprintf(",\"share\":%.2f}", rand() / 8)
	}
	function step(nodes,   i, text, per_node, launch, size, shapes) {
		per_node = 8
		launch = pick(4)
		text = sprintf("{\"mode\":\"bandit\",\"nccl\":\"2.28.9\",\"ranks\":%d,\"nodes\":%d", nodes * per_node, nodes)
		if (launch < 3)
			text = text sprintf(",\"launch\":\"%s\"%s,\"step_us\":[%.1f,%.1f,%.1f],\"steps\":%d,\"fp\":\"%s\",\"fabric\":\"%s\",\"per_node\":%d",
				launch ? "default" : "sockets-wide", launch ? "" : sprintf(",\"measured\":%.2f", 0.9 + rand() / 2),
				240000, 250000, 270000, 1000 + pick(5000), fingerprint[pick(12)], pick(2) ? "ib" : "socket", per_node)
		text = text sprintf(",\"comm_ms\":%.1f", 1e5 + rand() * 1e5)
		shapes = nodes > 1 ? 2 : 1
		for (i = 0; i < shapes; i++) {
			text = text sprintf(",\"%dr%dn\":{", i ? per_node : nodes * per_node, i ? 1 : nodes)
			size = pick(12)
			text = text row(colls[pick(3)], sizes[size % 12], 40 * (size + 1), 8)
			for (n = pick(shapes == 1 ? 10 : 6); n > 0; n--) {
				size++
				text = text "," row(colls[size % 3], sizes[size % 12], 40 * (size % 12 + 1), 8)
			}
			text = text "}"
		}
		return text (pick(5) ? "" : ",\"more\":" 1 + pick(9)) "}"
	}
	function record(nodes,   i, text, steps) {
		text = "{\"nccl_tune\":{\"v\":1"
		steps = pick(4) ? 1 : 2
		for (i = 0; i < steps; i++)
			text = text ",\"" i "\":" step(nodes)
		return text "}}"
	}
	function comment(kind, nodes,   text) {
		if (kind < 4) return ""
		if (kind == 4) return "JS1:H4sIAAAAAAAAA"
		text = record(nodes)
		return kind == 5 ? substr(text, 1, 100 + pick(200)) : text
	}
	BEGIN {
		srand(7)
		split("AllReduce AllGather ReduceScatter", list, " ")
		for (i = 0; i < 3; i++) colls[i] = list[i + 1]
		split("4K 16K 64K 128K 256K 512K 1M 2M 4M 16M 64M 256M", list, " ")
		for (i = 0; i < 12; i++) sizes[i] = list[i + 1]
		for (i = 0; i < 12; i++) fingerprint[i] = sprintf("%08x%08x", 2654435761 * (i + 1) % 4294967296, 40503 * (i + 1))
		split("gpu gpu gpu big big debug", partitions, " ")
		print "set foreign_key_checks = 0; start transaction;"
		for (i = 0; i < 40; i++)
			printf "insert ignore into nt_assoc_table (%s) values (1,1,\"user%02d\",\"lab%d\",%d,1,2,\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\");\n",
				user_columns, i, i % 7, 1000 + i
		for (i = 0; i < jobs; i++) {
			user = pick(10) < 7 ? pick(4) : pick(40)
			nodes = 2 ^ pick(6)
			elapsed = 1800 + pick(20000)
			end = until - 1 - int(i * days * 86400 / jobs)
			printf "%s(%d,\"lab%d\",%s,%d,\"train\",%d,%d,0,0,%d,100,0,4294967294,0,%d,\"%s\",1,3,%d,%d,%d,%d)",
				i % 200 == 0 ? "insert into nt_job_table (" job_columns ") values\n" : ",\n",
				end, user % 7, (text = comment(i % 20, nodes)) == "" ? "null" : "\047" text "\047", nodes * 64, 1000 + user,
				1000000 + i, 1 + user, nodes, partitions[1 + pick(6)], end - elapsed - 60, end - elapsed - 60,
				end - elapsed, end
			if (i % 200 == 199 || i == jobs - 1) print ";"
		}
		print "commit;"
	}'
