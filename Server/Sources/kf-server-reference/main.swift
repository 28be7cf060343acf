// Prints the reference page of options and settings. For `make server-reference`.

import KFImageURLs

print(ReferencePage.markdown, terminator: "")
