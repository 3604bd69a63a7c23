//! Datagrams with the time at which the kernel had them: a receiver that is served late still knows when they came.
use super::socket::is_pause;
use nix::sys::socket::{self, ControlMessageOwned, MsgFlags, SockaddrStorage, sockopt};
use prismux_units::Duration;
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::SystemTime;

/// A socket whose datagrams carry the time of their arrival.
pub(super) struct StampedSocket<'a> {
    socket: &'a UdpSocket,
    /// Room for what the kernel says beside the bytes.
    control: Vec<u8>,
}

/// A datagram that lies in the reader's buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub bytes: usize,
    /// For how long the kernel has had it.
    pub age: Duration,
}

impl<'a> StampedSocket<'a> {
    /// Reads from `socket`, and waits for datagrams no longer than `patience`.
    ///
    /// # Errors
    /// When the kernel refuses one of the options.
    pub fn new(socket: &'a UdpSocket, patience: std::time::Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(patience))?;
        socket::setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
        Ok(Self { socket, control: nix::cmsg_space!(nix::sys::time::TimeSpec) })
    }

    /// Takes the next datagram into `buffer`; `None` where there is none, if it `waits` for as long as its patience
    /// lasts.
    ///
    /// # Errors
    /// The kernel's, see recvmsg(2); nothing waiting is no error.
    pub fn receive(&mut self, buffer: &mut [u8], waits: bool) -> io::Result<Option<Arrival>> {
        let flags = if waits { MsgFlags::empty() } else { MsgFlags::MSG_DONTWAIT };
        let mut parts = [IoSliceMut::new(buffer)];
        let received = socket::recvmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &mut parts,
            Some(&mut self.control),
            flags,
        );
        let message = match received.map_err(io::Error::from) {
            Ok(message) => message,
            Err(error) if is_pause(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stamp = message.cmsgs()?.find_map(|said| match said {
            ControlMessageOwned::ScmTimestampns(at) => Some(std::time::Duration::from(at)),
            _ => None,
        });
        // Kernel stamps are of the wall clock, of which only differences count here.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let age = stamp.map_or(std::time::Duration::ZERO, |stamp| now.saturating_sub(stamp));
        let age = Duration::from_nanos(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX));
        Ok(Some(Arrival { bytes: message.bytes, age }))
    }
}

#[cfg(test)]
mod tests {
    use super::StampedSocket;
    use prismux_units::Duration;
    use std::net::UdpSocket;

    #[test]
    fn a_datagram_that_is_read_late_says_for_how_long_it_has_been_there() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut stamped = StampedSocket::new(&receiver, std::time::Duration::from_secs(5)).unwrap();
        let mut buffer = [0; 100];
        assert!(stamped.receive(&mut buffer, false).unwrap().is_none(), "nothing has come");
        // The kernel begins to stamp a moment after it is asked to: until then a datagram is new when it is read.
        let late = Duration::from_millis(20);
        let read_late = |stamped: &mut StampedSocket<'_>, buffer: &mut [u8]| {
            sender.send_to(&[7; 40], receiver.local_addr().unwrap()).unwrap();
            std::thread::sleep(std::time::Duration::from_nanos(late.as_nanos()));
            stamped.receive(buffer, true).unwrap().expect("a datagram")
        };
        let stamps = (0..50).map(|_| read_late(&mut stamped, &mut buffer));
        let arrival = stamps.into_iter().find(|arrival| arrival.age >= late).expect("one that was stamped");
        assert_eq!((arrival.bytes, buffer[0]), (40, 7));
    }
}
