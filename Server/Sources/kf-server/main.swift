// The program. For those who run an image server.

import KingfisherServer
