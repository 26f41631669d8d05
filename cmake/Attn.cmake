# How a part of the project becomes a library: one static library a folder, includes written from the root.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The headers of MLIR take most of the time that a source takes: cmake/mlir.h, parsed once (the presets ask for it).
if(ATTN_PRECOMPILED)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
  add_library(attnPrecompiled STATIC ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_include_directories(attnPrecompiled SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_link_libraries(attnPrecompiled PUBLIC fmt::fmt)
  target_compile_options(attnPrecompiled PRIVATE "SHELL:-Xclang -fno-pch-timestamp") # the same bytes each time, for ccache
  target_precompile_headers(attnPrecompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/mlir.h)
endif()
function(attn_precompiled name)
  if(ATTN_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM attnPrecompiled)
  endif()
endfunction()

# attn_library(NAME sources… [LINK libs…]): compiler parts; they see MLIR and LLVM.
function(attn_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PUBLIC ${PROJECT_BINARY_DIR} ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM fmt::fmt)
  attn_precompiled(${name})
endfunction()

# attn_tool(NAME sources… [LINK libs…] [MLIR]): a program in build/bin; MLIR: of the compiler.
function(attn_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    attn_precompiled(${name})
  endif()
endfunction()
