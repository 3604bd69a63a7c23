//! Frames of an Ethernet-like interface beside the kernel's own protocols: packet sockets, see packet(7).
use crate::capabilities::REMEDY;
use prismux_wire::ethernet::MacAddress;
use std::fmt;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// Of `linux/ethtool.h`: whether packets of one flow are joined on their way in (generic receive offload).
const ETHTOOL_GGRO: u32 = 0x2b;
const ETHTOOL_SGRO: u32 = 0x2c;
/// Of `linux/if_ether.h`.
const IFF_LOOPBACK: libc::c_short = libc::IFF_LOOPBACK as libc::c_short;

/// Why an interface cannot be used, and what to do about it.
#[derive(Debug)]
pub enum InterfaceError {
    /// There is none of this name.
    Missing(String),
    /// It has no addresses as Ethernet has.
    NotEthernet(String),
    /// Neither root nor `CAP_NET_RAW`.
    NotPermitted,
    /// Anything else the kernel says.
    Io {
        /// What was being done.
        doing: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl fmt::Display for InterfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => {
                write!(f, "there is no interface \"{name}\"; those of this host: ip -brief link")
            }
            Self::NotEthernet(name) => write!(
                f,
                "\"{name}\" is neither an Ethernet nor a wireless LAN: its frames have no addresses of 48 bits"
            ),
            Self::NotPermitted => write!(f, "not permitted to open a packet socket. Do one of: {REMEDY}"),
            Self::Io { doing, source } => write!(f, "could not {doing}: {source}"),
        }
    }
}

impl std::error::Error for InterfaceError {}

fn io(doing: &'static str) -> impl FnOnce(io::Error) -> InterfaceError {
    move |source| InterfaceError::Io { doing, source }
}

/// An interface whose frames are read and written here.
#[derive(Debug)]
pub struct Interface {
    name: String,
    index: u32,
    address: MacAddress,
    mtu_bytes: usize,
    /// For requests about it.
    asking: OwnedFd,
    /// The kernel joined packets before, and shall do so again.
    joined_before: bool,
}

impl Interface {
    /// Looks an interface up in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`InterfaceError`]: there is none of this name, or it is no Ethernet.
    pub fn find(name: &str) -> Result<Self, InterfaceError> {
        let index =
            crate::netlink::device_index(name).map_err(|_| InterfaceError::Missing(name.to_owned()))?;
        let asking = socket(libc::AF_INET, libc::SOCK_DGRAM, 0).map_err(io("open a socket"))?;
        let mut found = Self {
            name: name.to_owned(),
            index,
            address: MacAddress([0; 6]),
            mtu_bytes: 0,
            asking,
            joined_before: false,
        };
        let hardware = found.ask(libc::SIOCGIFHWADDR as _).map_err(io("ask an interface for its address"))?;
        // SAFETY: the kernel has written this member of the union.
        let hardware = unsafe { hardware.ifr_ifru.ifru_hwaddr };
        let flags = found.ask(libc::SIOCGIFFLAGS as _).map_err(io("ask an interface for its state"))?;
        // SAFETY: as above.
        let flags = unsafe { flags.ifr_ifru.ifru_flags };
        if hardware.sa_family != libc::ARPHRD_ETHER || flags & IFF_LOOPBACK != 0 {
            return Err(InterfaceError::NotEthernet(name.to_owned()));
        }
        let bytes = hardware.sa_data.map(|byte| byte as u8);
        if let Some(address) = bytes.first_chunk() {
            found.address = MacAddress(*address);
        }
        let mtu = found.ask(libc::SIOCGIFMTU as _).map_err(io("ask an interface for its MTU"))?;
        // SAFETY: as above.
        found.mtu_bytes = usize::try_from(unsafe { mtu.ifr_ifru.ifru_mtu }).unwrap_or(0);
        Ok(found)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its own address.
    pub const fn address(&self) -> MacAddress {
        self.address
    }

    /// Bytes of the longest packet that a frame carries.
    pub const fn mtu_bytes(&self) -> usize {
        self.mtu_bytes
    }

    /// Has packets come as they were sent until this is dropped: the kernel joins none of a flow. True when it did.
    ///
    /// # Errors
    /// The kernel's, see ethtool(8); what cannot join says so.
    pub fn take_apart(&mut self) -> io::Result<bool> {
        let joins = self.joining(ETHTOOL_GGRO, 0)? != 0;
        if joins {
            self.joining(ETHTOOL_SGRO, 0)?;
            self.joined_before = true;
        }
        Ok(joins)
    }

    /// Asks whether packets are joined, or has it so.
    fn joining(&self, command: u32, value: u32) -> io::Result<u32> {
        let mut asked = [command, value];
        let mut request = self.request();
        request.ifr_ifru.ifru_data = asked.as_mut_ptr().cast();
        // SAFETY: SIOCETHTOOL reads and writes the `ifreq` and the `ethtool_value` that it points to (two words).
        let result = unsafe { libc::ioctl(self.asking.as_raw_fd(), libc::SIOCETHTOOL as _, &mut request) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(asked[1]) }
    }

    fn ask(&self, what: libc::Ioctl) -> io::Result<libc::ifreq> {
        let mut request = self.request();
        // SAFETY: these requests read and write one `ifreq`, which `request` is.
        let result = unsafe { libc::ioctl(self.asking.as_raw_fd(), what, &mut request) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(request) }
    }

    fn request(&self) -> libc::ifreq {
        // SAFETY: `ifreq` is plain old data for which all zeroes is a valid value.
        let mut request: libc::ifreq = unsafe { mem::zeroed() };
        let places = request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1);
        places.zip(self.name.bytes()).for_each(|(place, byte)| *place = byte as libc::c_char);
        request
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        if self.joined_before {
            // It may be gone.
            let _ = self.joining(ETHTOOL_SGRO, 1);
        }
    }
}

/// Frames of one EtherType: those for this host, for everybody, and with `hears_all` those between others.
#[derive(Debug)]
pub struct FrameSocket {
    socket: OwnedFd,
}

impl FrameSocket {
    /// Reads frames of `ether_type` of an interface, beside the kernel, and not those that it sends itself.
    ///
    /// # Errors
    /// [`InterfaceError`]: not permitted, or the kernel's answer.
    pub fn open(interface: &Interface, ether_type: u16, hears_all: bool) -> Result<Self, InterfaceError> {
        // Of no EtherType until it is bound: nothing comes of other interfaces meanwhile.
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
        let socket = socket(libc::AF_PACKET, kind, 0).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => InterfaceError::NotPermitted,
            _ => InterfaceError::Io { doing: "open a packet socket", source: error },
        })?;
        let index = libc::c_int::try_from(interface.index).unwrap_or(0);
        // SAFETY: `sockaddr_ll` is plain old data for which all zeroes is a valid value.
        let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ether_type.to_be();
        address.sll_ifindex = index;
        let length = mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the kernel reads `length` bytes of `address` and keeps no pointer to it.
        let bound = unsafe { libc::bind(socket.as_raw_fd(), ptr::from_ref(&address).cast(), length) };
        check(bound).map_err(io("bind a packet socket"))?;
        if hears_all {
            let membership = libc::packet_mreq {
                mr_ifindex: index,
                mr_type: libc::PACKET_MR_PROMISC as u16,
                mr_alen: 0,
                mr_address: [0; 8],
            };
            let length = mem::size_of::<libc::packet_mreq>() as libc::socklen_t;
            // SAFETY: the kernel reads `length` bytes of `membership` and keeps no pointer to it.
            let joined = unsafe {
                libc::setsockopt(
                    socket.as_raw_fd(),
                    libc::SOL_PACKET,
                    libc::PACKET_ADD_MEMBERSHIP,
                    ptr::from_ref(&membership).cast(),
                    length,
                )
            };
            check(joined).map_err(io("hear frames between others"))?;
        }
        Ok(Self { socket })
    }

    /// Reads one frame; [`io::ErrorKind::WouldBlock`] when there is none. Returns its length, which is more than
    /// `buffer` has where the frame was cut.
    ///
    /// # Errors
    /// The kernel's, see recv(2).
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the kernel writes at most as many bytes as `buffer` has.
        let read = unsafe {
            libc::recv(self.socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_TRUNC)
        };
        usize::try_from(read).map_err(|_| io::Error::last_os_error())
    }

    /// Sends one frame, its Ethernet header included.
    ///
    /// # Errors
    /// The kernel's, see send(2): the interface is down, its queue full, the frame too long.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: the kernel reads as many bytes as `frame` has.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for FrameSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call; the descriptor is checked and owned right away.
    let socket = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    check(socket)?;
    // SAFETY: it was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
