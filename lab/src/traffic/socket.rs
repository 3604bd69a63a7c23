//! Sockets with the settings of a flow.
use crate::kernel_tcp::KernelTcp;
use crate::sysctl;
use prismux_linux::socket_option;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::time::Duration;

/// How long opening a connection may take; the kernel repeats its SYN after 1, 3 and 7 seconds.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Makes a flow's sockets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SocketMaker<'a> {
    pub mptcp: bool,
    pub tcp: &'a KernelTcp,
}

impl SocketMaker<'_> {
    fn socket(self) -> io::Result<Socket> {
        let protocol = if self.mptcp { Protocol::MPTCP } else { Protocol::TCP };
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(protocol))?;
        if let Some(name) = &self.tcp.congestion {
            socket.set_tcp_congestion(name.as_bytes()).map_err(|error| explain(name, error))?;
        }
        // The segment size is told by the routes, which MPTCP heeds too. For the window it has the buffer only.
        if let Some(window) = self.tcp.window {
            let bytes = i32::try_from(window.as_u64()).unwrap_or(i32::MAX);
            match self.mptcp {
                false => socket_option::set(&socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)?,
                true => set_buffer(&socket, bytes)?,
            }
        }
        if let Some(nagle) = self.tcp.nagle {
            socket.set_tcp_nodelay(!nagle)?;
        }
        Ok(socket)
    }

    /// The socket of the end that is called; make it in that node's namespace.
    ///
    /// # Errors
    /// When the kernel refuses the socket, its options or the address.
    pub fn listener(self, at: SocketAddrV4) -> io::Result<TcpListener> {
        let socket = self.socket()?;
        socket.set_reuse_address(true)?;
        socket.bind(&at.into())?;
        socket.listen(8)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    }

    /// The socket of the end that calls, bound to `from`; make it in that node's namespace.
    ///
    /// # Errors
    /// When the kernel refuses the socket, its options or the address.
    pub fn caller(self, from: Ipv4Addr) -> io::Result<Socket> {
        let socket = self.socket()?;
        socket.bind(&SocketAddrV4::new(from, 0).into())?;
        Ok(socket)
    }
}

/// Gives a socket a buffer for a window of so many bytes. That is root's to do; in a user namespace the node's own
/// settings tell how far the kernel lets buffers grow.
fn set_buffer(socket: &Socket, bytes: i32) -> io::Result<()> {
    match socket_option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            // As the option has it: half of a buffer is for what the kernel keeps beside the bytes.
            sysctl::set("ipv4/tcp_rmem", &format!("4096 131072 {}", i64::from(bytes) * 2))
        }
        result => result,
    }
}

/// Says what to do about a congestion control that the kernel has not loaded.
fn explain(name: &str, error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(libc::ENOENT) {
        return error;
    }
    let what =
        format!("the kernel has no congestion control \"{name}\"; load it with: sudo modprobe tcp_{name}");
    io::Error::new(error.kind(), what)
}

/// A wait that ran out or was interrupted, as opposed to a failure.
pub(super) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_congestion_control_that_is_not_loaded_is_told_with_its_remedy() {
        let tcp = KernelTcp::modern("nonesuch");
        let maker = SocketMaker { mptcp: false, tcp: &tcp };
        let error = maker.caller(Ipv4Addr::LOCALHOST).expect_err("an error").to_string();
        assert!(error.contains("modprobe tcp_nonesuch"), "{error}");
    }
}
