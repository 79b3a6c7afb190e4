# Some 180 programs are linked in a build: lld needs a third of the time of GNU's linker, which serves where there is no lld.
option(KEVO_LLD "Link with lld where it is found" ${PROJECT_IS_TOP_LEVEL})
if(KEVO_LLD)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld KEVO_HAS_LLD)
  if(KEVO_HAS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
