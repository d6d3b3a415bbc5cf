/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - what a rank, a step and a job leave behind, and how it is spelt
 *
 * Rank record: one file per NCCL process, rank.<task>.<pid>.json, JSON on one line, at most
 * NT_RANK_RECORD_MAX:
 *   {"v":1,"job":12,"step":0,"task":3,"pid":4711,"node":"n1","mode":"bandit","policy":"bandit,alpha=0.02",
 *    "nccl":22809,"flags":0,"end":true,"counts":{"<what was dropped>":7,...},
 *    "agreement":{"nodes":2,"fetches":31,"appends":9,"bytes":1204,"commits":4,"aborts":0,"rejects":0,"refusals":0,
 *    "sessions":2,"looks":9,"commit_ms":[14,22]},
 *    "explored":[{"id":"00f3…","ranks":8,"nodes":2,"coll":"AllReduce","bytes":262144,"auto":"RING/SIMPLE",
 *     "arm":"TREE/SIMPLE","arms":[{"arm":"AUTO","predicted_us":31.0,"us":280.1,"p25_us":270.0,"samples":24},...]},...],
 *    "comms":[{"id":"00f3…","rank":3,"ranks":8,"nodes":2,"state":"agreed","why":"","keys":[KEY,...]},...]}
 *   comms.state: "joining", "agreed", "rejected"; "why" says who differs and in what, or why nothing was tried.
 *   agreement, of the process that speaks for its node: reads of other nodes' logs, appends to its
 *   own and their bytes, outcomes, keys that were open again and the reads meant for them, and how
 *   long the newest 64 commits took that were decided here.
 *   explored, of the process that decided: every arm of a key with NCCL's prediction (of pairs) and
 *   the newest times.
 *   "end" is true in the record written at the end of the process, false in earlier ones (the file is replaced).
 *   KEY: {"coll":"AllReduce","bytes":262144,"state":"committed","auto":"RING/SIMPLE","arm":"TREE/SIMPLE",
 *    "auto_us":280.1,"arm_us":173.2,"auto_p25_us":270.0,"arm_p25_us":171.0,"p":0.0001,"samples":24,
 *    "spent_calls":135,"spent_ms":12.3,"saved_ms":456.7,"calls":10000,"forced":9865,"differed":0,
 *    "rechecks":3,"rollbacks":0,"changes":0,
 *    "predicted_auto_us":31.0,"predicted_arm_us":44.0,
 *    "trial":{"arms":["TREE/SIMPLE"],"cost":[44.0],"rounds":["<base64>"]}}
 *   bytes: the floor of the size band; keys.state: "counted" (never tried), "exploring",
 *   "committed" (arm is not AUTO), "kept" (AUTO stays; arm is the best other arm, "why" what spoke
 *   against it), "observed" (mode observe). forced: collectives that NCCL's events confirm ran the
 *   forced arm; differed: those that did not. rechecks: windows in which a committed arm was
 *   measured again; rollbacks: returns to AUTO after one, changes: other arms instead. trial: what
 *   the first decision was made from, while it holds, in the record of the process that made it
 *   (engine/history.h). Members that do not apply are left out.
 *
 * Step record: the value of "<step>" (a number, or "batch") in the job record; at most NT_STEP_RECORD_MAX:
 *   {"mode":"bandit","nccl":"2.28.9","ranks":8,"nodes":2,
 *    "8r2n":{"AllReduce 256K":{"auto":"RING/SIMPLE","arm":"TREE/SIMPLE","us":[280.1,173.2],"gain":38.2,"p":0.0001,
 *            "n":24,"calls":10000,"spent":135,"spent_ms":12.3,"saved_ms":456.7,"rechecks":3,"rollbacks":1},...},
 *    "why":["…"],"more":3}
 *   One member per communicator shape (ranks, nodes); sizes in nt_size_text's form; "arm":"AUTO" where AUTO stays,
 *   "us" then holds AUTO's median and the best other arm's. gain in percent of AUTO's median. "why" names every
 *   communicator that was not tuned, once each; "more" counts entries left out for want of room.
 *   Medians in microseconds. Characters: printable ASCII without backslash, braces only as JSON's
 *   own.
 *
 * Job record: {"nccl_tune":{"v":1,"0":STEP,"1":STEP,...}} inside AdminComment; "more" beside the steps counts whole steps
 * left out for want of room.
 */
#ifndef NT_RECORD_H
#define NT_RECORD_H

#include "contract/names.h"

#define NT_KEYSTATE_COUNTED "counted"
#define NT_KEYSTATE_EXPLORING "exploring"
#define NT_KEYSTATE_COMMITTED "committed"
#define NT_KEYSTATE_KEPT "kept"
#define NT_KEYSTATE_OBSERVED "observed"

#define NT_COMMSTATE_JOINING "joining"
#define NT_COMMSTATE_AGREED "agreed"
#define NT_COMMSTATE_REJECTED "rejected"

#endif
