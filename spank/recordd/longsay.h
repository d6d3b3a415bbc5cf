/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* longsay.h - what the child that writes a part says to nt-recordd: a byte each, words behind the
 *             last
 */
#ifndef NT_LONGSAY_H
#define NT_LONGSAY_H

#define NT_LONGSAY_READ 'r' /* it needs the step's directory no longer */
#define NT_LONGSAY_PLACED 'o' /* the job's directory is there, and it writes into it */
#define NT_LONGSAY_WRITTEN 'w'
#define NT_LONGSAY_NOTHING 'n' /* there are no records */
#define NT_LONGSAY_FAILED 'x' /* why */

#endif
