//! A connection as its host sees it: buffers, extensions, a listener.
mod buffers;
mod extension;
mod listener;
