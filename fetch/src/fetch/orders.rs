//! Orders that reach a download while it runs: one on a line, from a file or a named pipe.
//!
//! `use URL` brings in one more server, or an interface (`#via=`) towards one; `close NAME...` asks for nothing more
//! over the paths that all the names fit: interfaces, source addresses, hosts.
use super::request::PathName;
use super::{Fetch, FetchError, ORDERS, Update, UsageError, transport};
use crate::url::Url;
use prismux_linux::event_loop::EventLoop;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// Longest line with an order.
const MAX_ORDER_BYTES: u64 = 64 << 10;

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Use this server.
    Use(Box<Url>),
    /// Close the paths that all these fit.
    Close(Vec<String>),
}

impl FromStr for Order {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        match (verb, rest.as_slice()) {
            ("use", [url]) => Ok(Self::Use(Box::new(url.parse().map_err(|error| format!("{error}"))?))),
            ("close", [_, ..]) => Ok(Self::Close(rest.into_iter().map(str::to_string).collect())),
            _ => Err(format!("\"{line}\" is no order; orders are: use URL, close NAME...")),
        }
    }
}

/// True if all `names` fit the path.
pub(super) fn fits(names: &[String], path: &PathName) -> bool {
    let fits = |name: &String| {
        [path.link.as_str(), path.host.as_str(), path.server.as_str()].contains(&name.as_str())
            || path
                .server
                .rsplit_once(':')
                .is_some_and(|(address, _)| address.trim_matches(['[', ']']) == name)
    };
    names.iter().all(fits)
}

/// Where the orders come from.
pub(super) struct Orders {
    lines: Receiver<io::Result<String>>,
    /// Readable when there are lines.
    bell: UnixStream,
    /// Without it the bell would ring for ever once the file is at its end.
    _other_end: UnixStream,
}

impl Orders {
    /// Reads orders from `path` on a thread of its own: no file can make the download wait.
    ///
    /// # Errors
    /// When there is no such file, or no thread.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path)?;
        let (bell, other_end) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        let ring = other_end.try_clone()?;
        let (sender, lines) = mpsc::channel();
        let path = path.to_path_buf();
        thread::Builder::new().name("orders".to_string()).spawn(move || read(&path, &sender, ring))?;
        Ok(Self { lines, bell, _other_end: other_end })
    }

    /// The next line; or what is wrong with the file.
    pub(super) fn next(&mut self) -> Option<io::Result<String>> {
        // What rang has been heard; it only says that there may be lines.
        let _ = self.bell.read(&mut [0; 64]);
        self.lines.try_recv().ok()
    }
}

impl AsFd for Orders {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// Passes lines on until nobody wants them. A named pipe is opened again when its writer has closed it.
fn read(path: &Path, lines: &Sender<io::Result<String>>, mut bell: UnixStream) {
    loop {
        let file = File::open(path);
        let is_pipe = file
            .as_ref()
            .is_ok_and(|file| file.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo()));
        let all: Box<dyn Iterator<Item = io::Result<String>>> = match file {
            Ok(file) => {
                let mut reader = BufReader::new(file);
                Box::new(std::iter::from_fn(move || next_line(&mut reader)))
            }
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        for line in all {
            let is_bad = line.is_err();
            if lines.send(line).is_err() || bell.write_all(b"!").is_err() || is_bad {
                return;
            }
        }
        if !is_pipe {
            return;
        }
    }
}

/// The next line; an error if it is longer than any order.
fn next_line(reader: &mut impl BufRead) -> Option<io::Result<String>> {
    let mut line = Vec::new();
    match reader.take(MAX_ORDER_BYTES + 1).read_until(b'\n', &mut line) {
        Err(error) => return Some(Err(error)),
        Ok(0) => return None,
        Ok(_) => {}
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 > MAX_ORDER_BYTES {
        let problem = format!("no order has more than {MAX_ORDER_BYTES} bytes");
        return Some(Err(io::Error::new(io::ErrorKind::InvalidData, problem)));
    }
    Some(String::from_utf8(line).map_err(|_| io::ErrorKind::InvalidData.into()))
}

/// Takes orders from `path`.
///
/// # Errors
/// When there is no such file, or no thread.
pub(super) fn take(path: &Path, event_loop: &EventLoop) -> Result<Orders, FetchError> {
    let orders =
        Orders::open(path).map_err(|error| UsageError::Orders { path: path.to_path_buf(), error })?;
    event_loop.watch(&orders, ORDERS)?;
    Ok(orders)
}

impl Fetch<'_> {
    /// Uses the server of `url` over the interfaces meant for it.
    pub(super) fn use_server(&mut self, url: &Url, event_loop: &EventLoop) -> Result<(), FetchError> {
        transport::check_server(self.request, url)?;
        for spec in self.links.paths_to(url, event_loop)? {
            let (link, server) = (self.links.name(spec.link), spec.address.to_string());
            let index = self.download.use_path(event_loop.clock().now(), spec);
            if index == self.names.len() {
                self.names.push(PathName { link, host: url.host.clone(), server });
            }
        }
        Ok(())
    }

    /// Does what the orders say that have come.
    pub(super) fn obey(&mut self, event_loop: &EventLoop, observer: &mut dyn FnMut(Update<'_>)) {
        while let Some(line) = self.orders.as_mut().and_then(Orders::next) {
            let line = match line {
                Ok(line) if line.trim().is_empty() => continue,
                Ok(line) => line,
                Err(error) => {
                    observer(Update::Note(format!("orders: {error}")));
                    continue;
                }
            };
            if let Err(problem) = self.carry_out(&line, event_loop) {
                observer(Update::Note(format!("order \"{line}\" is ignored: {problem}")));
            }
        }
    }

    fn carry_out(&mut self, line: &str, event_loop: &EventLoop) -> Result<(), String> {
        match line.parse()? {
            Order::Use(url) => self.use_server(&url, event_loop).map_err(|error| error.to_string()),
            Order::Close(names) => {
                let fits = |index: &usize| fits(&names, &self.names[*index]);
                let paths: Vec<usize> = (0..self.names.len()).filter(fits).collect();
                if paths.is_empty() {
                    return Err("no path has these names".to_string());
                }
                let now = event_loop.clock().now();
                paths.into_iter().for_each(|path| self.download.close_path(now, path));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
