//! Connections: each is read and answered by a thread of its own, once, within a time, a few of them at once.
use super::cannot_listen;
use super::request;
use super::site::{Response, Site};
use prismux_linux::interrupted::uninterrupted;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From accepting a connection to its end: nobody needs longer to ask and to read.
const PATIENCE: Duration = Duration::from_secs(5);
/// Readers at a time; others are turned away.
pub(super) const MAX_READERS: usize = 32;
/// Of these, from one address: a browser opens six connections.
const MAX_READERS_OF_AN_ADDRESS: usize = 12;
/// What may still be on its way from somebody who was refused in the middle of a request.
const MAX_LEFT_OVER_BYTES: usize = 65_536;

/// An address at which readers are answered.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    site: Arc<Site>,
    readers: Readers,
}

/// Who is being answered.
#[derive(Debug, Clone, Default)]
struct Readers(Arc<Mutex<Vec<IpAddr>>>);

impl Server {
    /// Listens at `address`; `site` is what is there.
    ///
    /// # Errors
    /// Why it cannot, as when the port is in use.
    pub fn bind(address: SocketAddr, site: impl FnOnce(SocketAddr) -> Site) -> Result<Self, String> {
        let listen = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = listen().map_err(|error| cannot_listen(address, &error))?;
        Ok(Self { listener, site: Arc::new(site(address)), readers: Readers::default() })
    }

    /// What becomes readable when somebody connects.
    pub const fn listener(&self) -> &TcpListener {
        &self.listener
    }

    /// Answers everybody who has connected, on threads of their own: a slow reader cannot hold up packets.
    pub fn answer(&self) {
        while let Ok((reader, from)) = self.listener.accept() {
            let Some(place) = self.readers.place_for(from.ip()) else { continue };
            let site = Arc::clone(&self.site);
            let work = move || {
                let _place = place;
                // A reader that goes away, or asks for nothing, needs no answer.
                let _ = converse(reader, from.ip(), &site);
            };
            if let Err(error) = std::thread::Builder::new().name("web".to_owned()).spawn(work) {
                tracing::warn!(%error, "could not answer a request over HTTP");
            }
        }
    }
}

impl Readers {
    fn with<T>(&self, act: impl FnOnce(&mut Vec<IpAddr>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A place for a reader, if there is one.
    fn place_for(&self, from: IpAddr) -> Option<Place> {
        let is_let_in = self.with(|readers| {
            let of_this_address = readers.iter().filter(|&&other| other == from).count();
            let is_let_in = readers.len() < MAX_READERS && of_this_address < MAX_READERS_OF_AN_ADDRESS;
            if is_let_in {
                readers.push(from);
            }
            is_let_in
        });
        is_let_in.then(|| Place { readers: self.clone(), from })
    }
}

/// A reader's place, free again when this is dropped.
struct Place {
    readers: Readers,
    from: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.readers.with(|readers| {
            if let Some(index) = readers.iter().position(|&reader| reader == self.from) {
                readers.swap_remove(index);
            }
        });
    }
}

/// One request and its answer.
fn converse(mut stream: TcpStream, from: IpAddr, site: &Site) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let deadline = Instant::now() + PATIENCE;
    let response = match request::read(|block| read_until(&mut stream, deadline, block))? {
        Ok(request) => site.respond(&request, from),
        Err(refusal) => Response::refusal(refusal.status(), refusal.sentence()),
    };
    write_until(&mut stream, deadline, response.head().as_bytes())?;
    write_until(&mut stream, deadline, &response.body)?;
    stream.shutdown(Shutdown::Write)?;
    // Closing before everything was read would take the answer away from who has not read it yet.
    let (mut left_over, mut block) = (0, [0; 4096]);
    while left_over < MAX_LEFT_OVER_BYTES {
        match read_until(&mut stream, deadline, &mut block)? {
            0 => break,
            length => left_over += length,
        }
    }
    Ok(())
}

/// The time that is left, or an error.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn read_until(stream: &mut TcpStream, deadline: Instant, block: &mut [u8]) -> io::Result<usize> {
    uninterrupted(|| {
        stream.set_read_timeout(Some(left(deadline)?))?;
        stream.read(block)
    })
}

fn write_until(stream: &mut TcpStream, deadline: Instant, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = uninterrupted(|| {
            stream.set_write_timeout(Some(left(deadline)?))?;
            stream.write(bytes)
        });
        match written? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            length => bytes = bytes.get(length..).unwrap_or_default(),
        }
    }
    Ok(())
}
