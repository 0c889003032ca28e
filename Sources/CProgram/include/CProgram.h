#ifndef CPROGRAM_H
#define CPROGRAM_H

/// The text of deploy/troubleshooting.md as it was when the program was built.
const char *troubleshooting_page(void);

/// Likewise the text of config/recipes/engines/bearer.lua.
const char *haproxy_script(void);

#endif
