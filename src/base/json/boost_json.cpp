// The one translation unit that holds Boost.JSON's code, so that nothing has to be linked for it.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <boost/json/src.hpp>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
