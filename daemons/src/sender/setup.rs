//! Putting the programs into the kernel, taking them out, and asking what they did. All of it is found again by name:
//! nothing is pinned to a file, and no file is written.
use super::control::{Growth, congestion_control};
use super::counters::{BYTES, SenderCounters, cgroup_of, longest_cgroup, value_with};
use super::programs::{LICENCE, socket_events};
use super::window::{Surroundings, note};
use super::{CONGESTION_CONTROL, SenderError};
use prismux_linux::bpf::type_info::{OF_THE_KERNEL, TypeInfo};
use prismux_linux::bpf::{Map, Program, Purpose};
use serde::Serialize;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

/// Names in the kernel.
const SOCKET_EVENTS: &str = "prismux_sockets";
const COUNTS: &str = "prismux_counts";
const NOTES: &str = "prismux_notes";
const TABLE: &str = "prismux_sender";

/// State of a table of functions that is registered (`enum bpf_struct_ops_state`), and where its value has it.
const REGISTERED: u32 = 1;
const STATE_AT: usize = 4;

/// What is enabled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SenderStatus {
    /// Connections heed reports.
    pub enabled: bool,
    /// Folder of the cgroup whose sockets they are.
    pub cgroup: Option<String>,
    /// What was counted since it was enabled.
    pub counters: Option<SenderCounters>,
}

/// What [`enable`] has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enabled {
    /// Folder of the cgroup.
    pub cgroup: PathBuf,
    /// How windows grow: "cubic", or "reno" where the kernel does not lend CUBIC's functions.
    pub growth: &'static str,
}

/// Where the kernel's table and the connections' numbers are.
struct Layout {
    table: u32,
    /// The type of the map that registers a table, its size, and where the table begins in it.
    wrapper: u32,
    wrapper_bytes: usize,
    data_at: usize,
    kernel: TypeInfo,
}

impl Layout {
    fn find(kernel: TypeInfo) -> Option<Self> {
        let table = kernel.structure("tcp_congestion_ops")?;
        let wrapper = kernel.structure("bpf_struct_ops_tcp_congestion_ops")?;
        let data_at = kernel.position(wrapper, "data")?.offset()?;
        Some(Self {
            table,
            wrapper,
            wrapper_bytes: kernel.bytes(wrapper)?,
            data_at: usize::try_from(data_at).ok()?,
            kernel,
        })
    }

    fn surroundings(&self, notes: &Map, counts: &Map) -> Option<Surroundings> {
        let sock = self.kernel.structure("tcp_sock")?;
        let field = |name: &str| self.kernel.position(sock, name)?.offset();
        let state = self.kernel.position(sock, "inet_conn.icsk_ca_state")?;
        Some(Surroundings {
            notes: notes.as_fd().as_raw_fd(),
            counts: counts.as_fd().as_raw_fd(),
            acknowledged: field("snd_una")?,
            next: field("snd_nxt")?,
            window: field("snd_cwnd")?,
            threshold: field("snd_ssthresh")?,
            state: state.offset()?,
            state_mask: if state.bits == 0 { 0xff } else { (1 << state.bits.min(8)) - 1 },
        })
    }

    fn position(&self, member: &str) -> Option<usize> {
        let at = self.kernel.position(self.table, member)?.offset()?;
        Some(self.data_at + usize::try_from(at).ok()?)
    }
}

/// Has the kernel's TCP heed loss reports, for the sockets that begin from now on in a cgroup [default: all].
///
/// # Errors
/// Where the kernel, its configuration or the privileges lack something, where it is enabled already, and when the
/// kernel refuses a step. Nothing is changed then.
pub fn enable(cgroup: Option<&Path>) -> Result<Enabled, SenderError> {
    if let Some(enabled) = status()?.cgroup {
        return Err(SenderError::AlreadyEnabled { cgroup: enabled });
    }
    // What a run that was cut short has left.
    unregister_tables()?;
    let cgroup = cgroup.map_or_else(root_cgroup, |path| Ok(path.to_path_buf()))?;
    let name = cgroup.to_string_lossy().into_owned();
    if name.len() > longest_cgroup() {
        return Err(SenderError::Lacking { what: format!("room for a cgroup's name as long as {name}") });
    }
    let folder = File::open(&cgroup).map_err(SenderError::refused(format!("open the cgroup {name}")))?;
    let kernel = TypeInfo::of_the_kernel().map_err(|error| SenderError::Lacking {
        what: format!("a description of its types, {OF_THE_KERNEL} (CONFIG_DEBUG_INFO_BTF): {error}"),
    })?;
    let layout = Layout::find(kernel).ok_or_else(|| SenderError::Lacking {
        what: "congestion controls by BPF (Linux 5.13, CONFIG_BPF_JIT)".to_string(),
    })?;
    let notes =
        Map::per_socket(NOTES, note::WORDS).map_err(SenderError::refused("make the map of connections"))?;
    let counts =
        Map::single_value(COUNTS, BYTES).map_err(SenderError::refused("make the map of counters"))?;
    counts.write(&value_with(&name)).map_err(SenderError::refused("write to the map of counters"))?;
    let surroundings = layout.surroundings(&notes, &counts).ok_or_else(|| SenderError::Lacking {
        what: "a field of TCP connections that is needed".to_string(),
    })?;
    let events = load(SOCKET_EVENTS, Purpose::SocketEvents, socket_events(&surroundings))?;
    let growth = register(&layout, &surroundings)?;
    if let Err(error) = events.attach(&folder) {
        // What is registered is no use without it.
        unregister_tables()?;
        return Err(SenderError::refused(format!("attach to the cgroup {name}"))(error));
    }
    Ok(Enabled { cgroup, growth })
}

/// Registers the congestion control, with CUBIC's growth if the kernel lends it.
fn register(layout: &Layout, surroundings: &Surroundings) -> Result<&'static str, SenderError> {
    let mut refused =
        SenderError::Lacking { what: "functions of congestion controls for BPF (Linux 5.13)".to_string() };
    for growth in [Growth::cubic(&layout.kernel), Growth::reno(&layout.kernel)].into_iter().flatten() {
        match table(layout, surroundings, growth) {
            Ok(()) => return Ok(growth.name()),
            Err(SenderError::NotPermitted) => return Err(SenderError::NotPermitted),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn table(layout: &Layout, surroundings: &Surroundings, growth: Growth) -> Result<(), SenderError> {
    let unknown = |member: &str| SenderError::Lacking { what: format!("tcp_congestion_ops.{member}") };
    let mut value = vec![0; layout.wrapper_bytes];
    let mut put = |member: &str, bytes: &[u8]| {
        let at = layout.position(member).ok_or_else(|| unknown(member))?;
        value.get_mut(at..at + bytes.len()).ok_or_else(|| unknown(member))?.copy_from_slice(bytes);
        Ok::<_, SenderError>(())
    };
    put("name", CONGESTION_CONTROL.as_bytes())?;
    let mut loaded = Vec::new();
    for (member, instructions) in congestion_control(surroundings, growth) {
        let index = layout.kernel.member_index(layout.table, member).ok_or_else(|| unknown(member))?;
        let purpose = Purpose::Member { table: layout.table, index };
        let program = load(member, purpose, instructions)?;
        put(member, &u64::from(program.as_fd().as_raw_fd().cast_unsigned()).to_ne_bytes())?;
        loaded.push(program);
    }
    let map = Map::function_table(TABLE, layout.wrapper, layout.wrapper_bytes)
        .map_err(SenderError::refused("make the table of the congestion control"))?;
    map.write(&value).map_err(SenderError::refused("register the congestion control"))
}

fn load(name: &str, purpose: Purpose, instructions: Option<Vec<u64>>) -> Result<Program, SenderError> {
    let instructions = instructions
        .ok_or_else(|| SenderError::Lacking { what: format!("room for jumps in the program {name}") })?;
    Program::load(name, purpose, &instructions, LICENCE).map_err(|refused| {
        let doing = match refused.log.is_empty() {
            true => format!("load the program {name}"),
            false => format!("load the program {name} ({})", refused.log),
        };
        SenderError::refused(doing)(refused.source)
    })
}

/// Takes the programs out again. Returns how many connections keep the congestion control until they end; it then
/// decreases as the kernel's own does, because no more reports reach it.
///
/// # Errors
/// Where it is not enabled, where the privileges lack, and when the kernel refuses a step.
pub fn disable() -> Result<u64, SenderError> {
    let status = status()?;
    if let Some(name) = &status.cgroup {
        for program in Program::named(SOCKET_EVENTS).map_err(SenderError::refused("look for programs"))? {
            let folder = File::open(name).map_err(SenderError::refused(format!("open the cgroup {name}")))?;
            program
                .detach(&folder)
                .map_err(SenderError::refused(format!("detach from the cgroup {name}")))?;
        }
    }
    let unregistered = unregister_tables()?;
    if status.cgroup.is_none() && unregistered == 0 {
        return Err(SenderError::NotEnabled);
    }
    Ok(status.counters.map_or(0, |counters| counters.connections_live))
}

/// What is enabled, and what it did.
///
/// # Errors
/// Where the kernel lacks bpf(2), or the privileges do.
pub fn status() -> Result<SenderStatus, SenderError> {
    let programs = Program::named(SOCKET_EVENTS).map_err(SenderError::refused("look for programs"))?;
    for program in programs {
        let maps = program.maps().map_err(SenderError::refused("look for the counters"))?;
        let Some((_, counts)) = maps.into_iter().find(|(name, _)| name == COUNTS) else { continue };
        let value = counts.read().map_err(SenderError::refused("read the counters"))?;
        return Ok(SenderStatus {
            enabled: true,
            cgroup: Some(cgroup_of(&value)),
            counters: Some(SenderCounters::parse(&value)),
        });
    }
    Ok(SenderStatus { enabled: false, cgroup: None, counters: None })
}

/// Unregisters the congestion control; returns how many tables were registered.
fn unregister_tables() -> Result<usize, SenderError> {
    let mut unregistered = 0;
    for table in Map::named(TABLE).map_err(SenderError::refused("look for tables"))? {
        let value = table.read().map_err(SenderError::refused("read a table"))?;
        let state = value.get(STATE_AT..).and_then(|rest| rest.first_chunk()).copied();
        if state.map(u32::from_ne_bytes) == Some(REGISTERED) {
            table.clear().map_err(SenderError::refused("unregister the congestion control"))?;
            unregistered += 1;
        }
    }
    Ok(unregistered)
}

/// The folder of the cgroup that all processes are in, of the second version.
fn root_cgroup() -> Result<PathBuf, SenderError> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut folders = fields.filter_map(|fields| match fields.as_slice() {
        [_, folder, "cgroup2", ..] => Some(PathBuf::from(folder)),
        _ => None,
    });
    folders.next().ok_or_else(|| SenderError::Lacking {
        what: "a mounted cgroup hierarchy of version 2 (mount -t cgroup2 none /sys/fs/cgroup)".to_string(),
    })
}
