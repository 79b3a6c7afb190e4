# Some 180 programs are linked in a build: lld needs a third of the time of GNU's linker, which serves where there is no lld.
option(KEVO_LLD "Link with lld where it is found" ${PROJECT_IS_TOP_LEVEL})
if(KEVO_LLD)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld KEVO_HAS_LLD)
  if(KEVO_HAS_LLD)
    add_link_options(-fuse-ld=lld)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC moves the parts of a function that seldom run to another place, and such a part can be empty. Of the functions that begin at one
      # address, lld 14 keeps one in the table that exceptions are unwound with. If it keeps the empty one, an exception that leaves the
      # other one ends the program (scripts/check_unwinding.py).
      add_compile_options(-fno-reorder-blocks-and-partition)
    endif()
  endif()
endif()
