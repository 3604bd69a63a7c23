//! TUN devices: IP packets as bytes, one packet per read or write.
//!
//! A device lives as long as its [`Tun`]: the kernel removes it, with its addresses and routes, when the file
//! is closed, also when the process is killed. Devices are made without `IFF_PI`, so a packet starts at
//! the IP header, and without offloads, so that a packet never exceeds the device's MTU. [`crate::offload`] has devices
//! with offloads.
use crate::capabilities::REMEDY;
use std::ffi::CStr;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

const DEVICE: &str = "/dev/net/tun";

/// Features of `TUNSETOFFLOAD` that the crate `libc` does not name yet: UDP segmentation (Linux 6.2).
const TUN_F_USO4: libc::c_uint = 0x20;
const TUN_F_USO6: libc::c_uint = 0x40;

/// Why a TUN device could not be made, and what to do about it.
#[derive(Debug)]
pub enum TunError {
    /// `/dev/net/tun` does not exist: no driver, or a container without the device node.
    NoDriver,
    /// `/dev/net/tun` is not open to this user.
    NoAccess,
    /// Neither root nor `CAP_NET_ADMIN` in the current network namespace.
    NotPermitted,
    /// Another process holds a device of this name.
    Busy(String),
    /// A name of no, more than 15, or unsuitable bytes.
    BadName(String),
    /// Anything else the kernel says.
    Io {
        /// What was being done.
        doing: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl fmt::Display for TunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver => write!(
                f,
                "{DEVICE} does not exist. Load the driver (modprobe tun); in a container, pass the device in \
                 (--device {DEVICE})"
            ),
            Self::NotPermitted => write!(
                f,
                "not permitted to make a TUN device. Do one of: {REMEDY}; or run inside a user and network namespace \
                 (unshare --user --map-root-user --net)"
            ),
            Self::NoAccess => write!(
                f,
                "{DEVICE} may not be opened by this user. Run as root, or let root open it to everybody, as most \
                 systems do (the kernel still asks for CAP_NET_ADMIN): chmod 666 {DEVICE}"
            ),
            Self::Busy(name) => write!(
                f,
                "the TUN device \"{name}\" is in use by another process. Stop that process or choose another \
                 device name"
            ),
            Self::BadName(name) => write!(
                f,
                "\"{name}\" is not a device name: 1 to 15 characters, no '/', no space, not \".\" or \"..\""
            ),
            Self::Io { doing, source } => write!(f, "could not {doing}: {source}"),
        }
    }
}

impl std::error::Error for TunError {}

/// A TUN device, non-blocking.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
    /// The kernel cuts UDP (Linux 6.2).
    cuts_datagrams: bool,
}

impl Tun {
    /// Makes a device called `name` in the network namespace of the calling thread (or attaches to one that
    /// was made persistent by somebody else). The device is down and without addresses: see
    /// [`crate::netconf`].
    ///
    /// A `%d` in the name is replaced by a free number ("prism%d").
    ///
    /// # Errors
    /// [`TunError`], which says what to do.
    pub fn create(name: &str) -> Result<Self, TunError> {
        Self::create_with_flags(name, libc::IFF_TUN | libc::IFF_NO_PI)
    }

    /// The same with a `virtio_net_hdr` (10 bytes) in front of each packet, and with the kernel asked to leave
    /// checksums and the cutting of TCP and UDP to the reader: packets have up to 65,535 bytes.
    /// [`crate::offload::OffloadTun`] deals with both.
    ///
    /// # Errors
    /// [`TunError`], which says what to do.
    pub fn create_with_offloads(name: &str) -> Result<Self, TunError> {
        let mut tun = Self::create_with_flags(name, libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR)?;
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        let udp = TUN_F_USO4 | TUN_F_USO6;
        // A kernel that does not know one refuses all.
        let known = [tcp | udp, tcp].into_iter().find(|&set| tun.set_offloads(set).is_ok());
        tun.cuts_datagrams = known.is_some_and(|set| set & udp == udp);
        tracing::debug!(device = tun.name, offloads = known, "offloads of a TUN device");
        Ok(tun)
    }

    fn set_offloads(&self, offloads: libc::c_uint) -> io::Result<()> {
        let value = libc::c_ulong::from(offloads);
        // SAFETY: TUNSETOFFLOAD takes a number in place of a pointer.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETOFFLOAD as _, value) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn create_with_flags(name: &str, flags: libc::c_int) -> Result<Self, TunError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(DEVICE)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => TunError::NoDriver,
                io::ErrorKind::PermissionDenied => TunError::NoAccess,
                _ => match error.raw_os_error() {
                    Some(libc::ENODEV | libc::ENXIO) => TunError::NoDriver,
                    _ => TunError::Io { doing: "open /dev/net/tun", source: error },
                },
            })?;
        let mut request = interface_request(name)?;
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes one `ifreq`, which `request` is, and keeps no pointer to it.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request) };
        if result < 0 {
            let error = io::Error::last_os_error();
            return Err(match error.raw_os_error() {
                Some(libc::EPERM) => TunError::NotPermitted,
                Some(libc::EBUSY) => TunError::Busy(name.to_owned()),
                Some(libc::EINVAL) => TunError::BadName(name.to_owned()),
                _ => TunError::Io { doing: "create the TUN device", source: error },
            });
        }
        Ok(Self { file, name: name_of(&request), cuts_datagrams: false })
    }

    /// Lets the device stay, with its addresses and routes, until its network namespace goes. Whoever makes a device of
    /// its name then has this one.
    ///
    /// # Errors
    /// The kernel's, see TUNSETPERSIST in its documentation of TUN.
    pub fn leave_behind(self) -> io::Result<()> {
        // SAFETY: TUNSETPERSIST takes a number in place of a pointer.
        let result =
            unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETPERSIST as _, 1 as libc::c_ulong) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The device's name as the kernel has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a packet that is written may be several UDP datagrams of a flow, which the kernel cuts where it must.
    pub(crate) const fn cuts_datagrams(&self) -> bool {
        self.cuts_datagrams
    }

    /// Reads one packet; [`io::ErrorKind::WouldBlock`] when there is none. A packet longer than `buffer` is
    /// cut, so give at least the MTU.
    ///
    /// # Errors
    /// `WouldBlock` when no packet waits; else the kernel's, as when the device was removed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buffer)
    }

    /// Writes one packet. The kernel refuses what is not IP ([`io::ErrorKind::InvalidInput`]) and anything
    /// while the device is down (EIO).
    ///
    /// # Errors
    /// When the kernel refuses the packet.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(|_| ())
    }

    /// Writes one packet that lies in two parts.
    pub(crate) fn write_parts(&self, parts: [&[u8]; 2]) -> io::Result<()> {
        (&self.file).write_vectored(&parts.map(io::IoSlice::new)).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// An `ifreq` that names `name`.
fn interface_request(name: &str) -> Result<libc::ifreq, TunError> {
    let bad = name.is_empty()
        || name.len() >= libc::IFNAMSIZ
        || name == "."
        || name == ".."
        || name.bytes().any(|b| b == b'/' || b == 0 || b.is_ascii_whitespace());
    if bad {
        return Err(TunError::BadName(name.to_owned()));
    }
    // SAFETY: `ifreq` is plain old data for which all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (slot, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    Ok(request)
}

fn name_of(request: &libc::ifreq) -> String {
    // SAFETY: the kernel terminates the name it wrote back; `interface_request` left a zero at the end too.
    let name = unsafe { CStr::from_ptr(request.ifr_name.as_ptr()) };
    name.to_string_lossy().into_owned()
}
