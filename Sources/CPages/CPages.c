#include "CPages.h"

static const unsigned char session_html[] = {
#embed "Session/session.html"
};

static const unsigned char session_css[] = {
#embed "Session/session.css"
};

// One script of several files, each of which has one subject.
static const unsigned char session_js[] = {
#embed "Session/names.js"
    ,
#embed "Session/filter.js"
    ,
#embed "Session/match.js"
    ,
#embed "Session/session.js"
    ,
#embed "Session/links.js"
    ,
#embed "Session/packet.js"
    ,
#embed "Session/detail.js"
    ,
#embed "Session/table.js"
    ,
#embed "Session/sequence.js"
    ,
#embed "Session/timeline.js"
    ,
#embed "Session/print.js"
    ,
#embed "Session/main.js"
};

struct page_data page_session_html(void) {
  return (struct page_data){session_html, sizeof session_html};
}

struct page_data page_session_css(void) {
  return (struct page_data){session_css, sizeof session_css};
}

struct page_data page_session_js(void) {
  return (struct page_data){session_js, sizeof session_js};
}
