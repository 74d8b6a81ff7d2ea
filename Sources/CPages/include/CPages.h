#ifndef CPAGES_H
#define CPAGES_H

#include <stddef.h>

/// The bytes of files, as they were when this was compiled.
struct page_data {
  const unsigned char *bytes;
  size_t count;
};

/// Returns the frame of the page of a session, with the marks `<!-- style -->`, `<!-- data -->` and `<!-- script -->`.
struct page_data page_session_html(void);

/// Returns the style of the page of a session.
struct page_data page_session_css(void);

/// Returns the script of the page of a session, all files of it one behind the other.
struct page_data page_session_js(void);

#endif
