// libnghttp2 1.52 as one Swift module. Only HTTP2 imports it. It is linked from the archive, so that the program needs
// no further shared library.

#include <nghttp2/nghttp2.h>
