# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0

# NT_COMPILER_FLAG(FLAG, VARIABLE): append FLAG to VARIABLE if the compiler takes it silently.
AC_DEFUN([NT_COMPILER_FLAG], [
	AC_MSG_CHECKING([whether $CC accepts $1])
	nt_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS -Werror $1"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
		[AC_MSG_RESULT([yes])
		 AS_VAR_APPEND([$2], [" $1"])],
		[AC_MSG_RESULT([no])])
	CFLAGS=$nt_save_CFLAGS
])

# NT_CHECK_HEADER(HEADER, CPPFLAGS, WHAT): fail with the name of the package that has it.
AC_DEFUN([NT_CHECK_HEADER], [
	nt_save_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $2"
	AC_CHECK_HEADER([$1], [], [AC_MSG_ERROR([$1 was not found: install $3])])
	CPPFLAGS=$nt_save_CPPFLAGS
])

# NT_CHECK_LIBRARY(LIBRARY, FUNCTION, LDFLAGS, WHAT)
AC_DEFUN([NT_CHECK_LIBRARY], [
	nt_save_LDFLAGS=$LDFLAGS
	LDFLAGS="$LDFLAGS $3"
	AC_CHECK_LIB([$1], [$2], [:], [AC_MSG_ERROR([-l$1 was not found: install $4])])
	LDFLAGS=$nt_save_LDFLAGS
])

# NT_PKG(PREFIX, MODULE, WHAT): a required pkg-config module.
AC_DEFUN([NT_PKG], [
	PKG_CHECK_MODULES([$1], [$2], [],
		[AC_MSG_ERROR([$2 was not found by pkg-config: install $3])])
])

# NT_CHECK_CUDA_NCCL: set have_cuda_nccl, why_no_cuda_nccl and CUDA_CPPFLAGS. Only a unit test is built with their headers:
# it compares them with bench/cuda-nccl.h. Asked for by name and not found is an error.
AC_DEFUN([NT_CHECK_CUDA_NCCL], [
	AC_ARG_WITH([cuda],
		[AS_HELP_STRING([--with-cuda=DIR],
			[CUDA toolkit, for a unit test (default: /usr/local/cuda; "no" to skip)])],
		[], [with_cuda=check])
	AC_ARG_WITH([nccl],
		[AS_HELP_STRING([--with-nccl=DIR],
			[prefix of NCCL, for the same (default: the CUDA toolkit, then the system)])],
		[], [with_nccl=check])

	have_cuda_nccl=no
	AS_CASE([$with_cuda], [no|yes|check], [cuda_dir=/usr/local/cuda], [cuda_dir=$with_cuda])
	AS_CASE([$with_nccl], [no|yes|check], [nccl_dir=$cuda_dir], [nccl_dir=$with_nccl])
	CUDA_CPPFLAGS="-isystem $cuda_dir/include"
	AS_IF([test "$nccl_dir" != "$cuda_dir"], [CUDA_CPPFLAGS="-isystem $nccl_dir/include $CUDA_CPPFLAGS"])

	nt_save_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
	AS_IF([test "x$with_cuda" = xno || test "x$with_nccl" = xno], [why_no_cuda_nccl="switched off"], [
		why_no_cuda_nccl=
		AC_CHECK_HEADER([cuda_runtime.h], [], [why_no_cuda_nccl="no cuda_runtime.h"])
		AC_CHECK_HEADER([nccl.h], [], [why_no_cuda_nccl="${why_no_cuda_nccl:-no nccl.h}"],
			[#include <cuda_runtime.h>])
	])
	CPPFLAGS=$nt_save_CPPFLAGS

	AS_IF([test -z "$why_no_cuda_nccl"], [have_cuda_nccl=yes], [
		AS_CASE([$with_cuda], [no|check], [],
			[AC_MSG_ERROR([--with-cuda=$with_cuda: $why_no_cuda_nccl])])
		AS_CASE([$with_nccl], [no|check], [],
			[AC_MSG_ERROR([--with-nccl=$with_nccl: $why_no_cuda_nccl])])
	])
	AC_SUBST([CUDA_CPPFLAGS])
])

# NT_OLD_GLIBC: set have_old_glibc: can modules ask glibc for the oldest versions of its functions? See tuner/glibc.c.
# Before 2.34 these are in libraries of their own, which later ones have as empty stubs; -z defs of the module's link
# would show a version that is not there.
AC_DEFUN([NT_OLD_GLIBC], [
	AC_MSG_CHECKING([whether the old versions of glibc's functions can be linked to])
	have_old_glibc=no
	nt_save_CFLAGS=$CFLAGS
	nt_save_LDFLAGS=$LDFLAGS
	OLD_GLIBC_LDFLAGS="-Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state"
	CFLAGS="$CFLAGS -fPIC -fno-lto -I$srcdir"
	LDFLAGS="$LDFLAGS -shared -Wl,-z,defs $OLD_GLIBC_LDFLAGS"
	nt_save_LIBS=$LIBS
	LIBS=-lm
	AC_LINK_IFELSE([AC_LANG_SOURCE([[#include "tuner/glibc.c"]])], [have_old_glibc=yes])
	CFLAGS=$nt_save_CFLAGS
	LDFLAGS=$nt_save_LDFLAGS
	LIBS=$nt_save_LIBS
	AC_MSG_RESULT([$have_old_glibc])
	AC_SUBST([OLD_GLIBC_LDFLAGS])
])
