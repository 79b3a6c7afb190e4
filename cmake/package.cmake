# cpack -G DEB: one Debian package with the program, its workers, the configs, the library and its headers.
# The preset "package" links all but the C library statically, so that one package serves Debian 12 and Ubuntu 24.04.
set(CPACK_PACKAGE_NAME kevo)
set(CPACK_PACKAGE_VENDOR kevo)
set(CPACK_PACKAGE_CONTACT "the kevo maintainers <maintainers@kevo.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), bubblewrap, g++, binutils")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenblas-dev, nvidia-cuda-toolkit, libboost-dev (>= 1.81) | libboost1.81-dev")
if(NOT KEVO_STATIC)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # names the libraries of this system, so that the package is for it alone
endif()
include(CPack)
