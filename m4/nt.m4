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

# NT_CHECK_CUDA_NCCL: set have_cuda_nccl, why_no_cuda_nccl, NVCC, CUDA_* and NCCL_*.
# Asked for by name and not found is an error; not asked for and not found is a line in the summary.
AC_DEFUN([NT_CHECK_CUDA_NCCL], [
	AC_ARG_WITH([cuda],
		[AS_HELP_STRING([--with-cuda=DIR], [CUDA toolkit (default: /usr/local/cuda; "no" to skip)])],
		[], [with_cuda=check])
	AC_ARG_WITH([nccl],
		[AS_HELP_STRING([--with-nccl=DIR], [prefix of NCCL (default: the CUDA toolkit, then the system)])],
		[], [with_nccl=check])
	AC_ARG_VAR([NVCC], [CUDA compiler])

	have_cuda_nccl=no
	AS_CASE([$with_cuda],
		[no], [cuda_dir=none],
		[yes|check], [cuda_dir=/usr/local/cuda],
		[cuda_dir=$with_cuda])
	AS_CASE([$with_nccl],
		[no], [nccl_dir=none],
		[yes|check], [nccl_dir=$cuda_dir],
		[nccl_dir=$with_nccl])
	CUDA_CPPFLAGS="-I$cuda_dir/include"
	NCCL_CPPFLAGS=
	AS_IF([test -r "$nccl_dir/include/nccl.h"], [NCCL_CPPFLAGS="-I$nccl_dir/include"])
	NT_LIBRARY_DIR([cuda_lib_dir], [$cuda_dir], [libcudart.so])
	NT_LIBRARY_DIR([nccl_lib_dir], [$nccl_dir], [libnccl.so])
	CUDA_LIBS="${cuda_lib_dir:+-L$cuda_lib_dir} -lcudart"
	NCCL_LIBS="${nccl_lib_dir:+-L$nccl_lib_dir} -lnccl"
	AC_PATH_PROG([NVCC], [nvcc], [], [$cuda_dir/bin$PATH_SEPARATOR$PATH])

	nt_save_CPPFLAGS=$CPPFLAGS
	nt_save_LIBS=$LIBS
	CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS $NCCL_CPPFLAGS"
	AS_IF([test "x$with_cuda" = xno || test "x$with_nccl" = xno], [why_no_cuda_nccl="switched off"], [
		why_no_cuda_nccl=
		AC_CHECK_HEADER([cuda_runtime.h], [], [why_no_cuda_nccl="no cuda_runtime.h"])
		AC_CHECK_HEADER([nccl.h], [], [why_no_cuda_nccl="${why_no_cuda_nccl:-no nccl.h}"],
			[#include <cuda_runtime.h>])
		AS_IF([test -z "$NVCC"], [why_no_cuda_nccl="${why_no_cuda_nccl:-no nvcc}"])
		AS_IF([test -z "$why_no_cuda_nccl"], [
			LIBS="$CUDA_LIBS $LIBS"
			AC_CHECK_LIB([cudart], [cudaMalloc], [:], [why_no_cuda_nccl="libcudart does not link"])
			LIBS="$NCCL_LIBS $LIBS"
			AC_CHECK_LIB([nccl], [ncclGetVersion], [:], [why_no_cuda_nccl="libnccl does not link"])
		])
		AS_IF([test -z "$why_no_cuda_nccl"], [NT_NVCC_WORKS])
	])
	CPPFLAGS=$nt_save_CPPFLAGS
	LIBS=$nt_save_LIBS

	AS_IF([test -z "$why_no_cuda_nccl"], [have_cuda_nccl=yes], [
		AS_CASE([$with_cuda], [no|check], [],
			[AC_MSG_ERROR([--with-cuda=$with_cuda: $why_no_cuda_nccl])])
		AS_CASE([$with_nccl], [no|check], [],
			[AC_MSG_ERROR([--with-nccl=$with_nccl: $why_no_cuda_nccl])])
	])
	AC_SUBST([CUDA_CPPFLAGS])
	AC_SUBST([CUDA_LIBS])
	AC_SUBST([NCCL_CPPFLAGS])
	AC_SUBST([NCCL_LIBS])
])

# NT_NVCC_WORKS: set why_no_cuda_nccl where it does not: nvcc needs a C++ compiler, and refuses one newer than itself.
AC_DEFUN([NT_NVCC_WORKS], [
	AC_MSG_CHECKING([whether $NVCC works with this compiler])
	AS_ECHO(["__global__ void nothing(void) {}"]) >conftest.cu
	AS_IF([$NVCC -c -o conftest.o conftest.cu >&AS_MESSAGE_LOG_FD 2>&1], [AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 why_no_cuda_nccl="nvcc does not work with this C++ compiler, or finds none"])
	rm -f conftest.cu conftest.o
])

# NT_LIBRARY_DIR(VARIABLE, PREFIX, FILE): the library directory under PREFIX that has FILE, or empty.
AC_DEFUN([NT_LIBRARY_DIR], [
	$1=
	for nt_dir in "$2/lib64" "$2/lib" "$2/targets/$host_cpu-linux/lib"
	do
		AS_IF([test -z "$$1" && test -e "$nt_dir/$3"], [$1=$nt_dir])
	done
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
