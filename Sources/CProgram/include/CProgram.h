#ifndef CPROGRAM_H
#define CPROGRAM_H

/// The text of deploy/troubleshooting.md as it was when the program was built.
const char *troubleshooting_page(void);

#endif
