//! The ways to fetch, and what each needs around it.
use crate::{Failed, http};
use prismux_fetch::directory::Directory;
use prismux_fetch::fetch::{self, FetchRequest, Transport, Via};
use prismux_fetch::key::ServerKey;
use prismux_fetch::serve::{ServeConfig, Serving};
use prismux_fetch::server::ServerConfig;
use prismux_fetch::url::{DEFAULT_PORT, Url};
use prismux_lab::LabNetwork;
use prismux_linux::event_loop::StopHandle;
use prismux_units::Duration;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use std::{env, fs, process, thread};

const SERVERS: [&str; 2] = ["server1", "server2"];

/// A way to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `prismux fetch`, from both servers.
    R2cp,
    /// `prismux fetch --transport ptcp`, from the first server.
    Ptcp,
    /// aria2.
    Aria2,
    /// Kernel MPTCP.
    Mptcp,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::R2cp, Self::Ptcp, Self::Aria2, Self::Mptcp];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::R2cp => "R²CP",
            Self::Ptcp => "pTCP",
            Self::Aria2 => "aria2",
            Self::Mptcp => "MPTCP",
        }
    }
}

/// The file, and a folder for what is fetched.
pub(crate) struct Setting {
    bytes: Arc<Vec<u8>>,
    folder: PathBuf,
    key: ServerKey,
}

impl Setting {
    pub(crate) fn new(size: u64) -> Result<Self, Failed> {
        let folder = env::temp_dir().join(format!("prismux-fetch-rivals-{}", process::id()));
        fs::create_dir_all(folder.join("served"))?;
        let bytes: Vec<u8> = (0..size).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        fs::write(folder.join("served/object"), &bytes)?;
        Ok(Self {
            bytes: Arc::new(bytes),
            folder,
            key: ServerKey::generate(&mut prismux_fetch::os_entropy()),
        })
    }

    /// Seconds until the whole file is there; its bytes are compared afterwards.
    pub(crate) fn fetch(&self, network: &LabNetwork, way: Way) -> Result<f64, Failed> {
        route(network)?;
        let output = self.folder.join("fetched");
        let _ = fs::remove_file(&output);
        let (seconds, bytes) = match way {
            Way::R2cp => (self.by_prismux(network, &output, Transport::R2cp)?, fs::read(&output)?),
            Way::Ptcp => (self.by_prismux(network, &output, Transport::Ptcp)?, fs::read(&output)?),
            Way::Aria2 => (self.by_aria2(network, &output)?, fs::read(&output)?),
            Way::Mptcp => self.by_mptcp(network)?,
        };
        if bytes == *self.bytes { Ok(seconds) } else { Err("the bytes are wrong".into()) }
    }

    fn by_prismux(&self, network: &LabNetwork, output: &Path, transport: Transport) -> Result<f64, Failed> {
        let stop = StopHandle::new()?;
        // pTCP joins one server.
        let wanted = if transport == Transport::Ptcp { &SERVERS[..1] } else { &SERVERS };
        let mut servers = Vec::new();
        for &server in wanted {
            let (namespace, stop) = (network.namespace(server)?.clone(), stop.clone());
            let directory = Directory::open(&self.folder.join("served"))?;
            let config = ServeConfig {
                // Not the wildcard: answers must come from the address that the client knows.
                listen: vec![SocketAddr::from((network.address(server)?, DEFAULT_PORT))],
                key: self.key.clone(),
                server: ServerConfig::default(),
                report_every: Duration::from_secs(3600),
            };
            servers.push(thread::spawn(move || {
                namespace.enter(|| Serving::bind(&config, &directory, stop, false)?.run(|_| {}))
            }));
        }
        let urls: Result<Vec<Url>, Failed> = wanted
            .iter()
            .map(|server| {
                let (key, address) = (self.key.public(), network.address(server)?);
                Ok(format!("prismux://{key}@{address}:{DEFAULT_PORT}/object").parse()?)
            })
            .collect();
        let request = FetchRequest {
            via: ["wwan1", "wwan2"].map(|name| Via::Interface(name.to_string())).to_vec(),
            transport,
            overwrite: true,
            restart: true,
            ..FetchRequest::new(urls?, output.to_path_buf())
        };
        // The digest is computed once for all clients: not this one's affair.
        thread::sleep(std::time::Duration::from_millis(300));
        let begun = Instant::now();
        let own_stop = StopHandle::new()?;
        let fetched =
            network.namespace("client")?.enter(|| fetch::run(&request, own_stop, false, &mut |_| {}));
        let seconds = begun.elapsed().as_secs_f64();
        stop.stop();
        for server in servers {
            server.join().map_err(|_| "a server failed")???;
        }
        fetched??;
        Ok(seconds)
    }

    fn by_aria2(&self, network: &LabNetwork, output: &Path) -> Result<f64, Failed> {
        self.serve_http(network)?;
        let mut command = Command::new("aria2c");
        command.args(["--no-conf", "--quiet", "--file-allocation=none", "--split=4"]);
        command.args(["--max-connection-per-server=2", "--min-split-size=1M"]);
        command.args(["--multiple-interface=wwan1,wwan2", "--dir=/", "--out"]).arg(output.strip_prefix("/")?);
        for server in SERVERS {
            command.arg(format!("http://{}:{}/object", network.address(server)?, http::PORT));
        }
        network.namespace("client")?.host(&mut command);
        let begun = Instant::now();
        let status = command.stdin(Stdio::null()).status().map_err(|error| {
            format!("aria2c cannot be started ({error}); the package aria2 has it, without it this way is left out")
        })?;
        if status.success() {
            Ok(begun.elapsed().as_secs_f64())
        } else {
            Err(format!("aria2c: {status}").into())
        }
    }

    fn by_mptcp(&self, network: &LabNetwork) -> Result<(f64, Vec<u8>), Failed> {
        self.serve_http(network)?;
        let interfaces = network.interfaces("client")?;
        let addresses: Vec<Ipv4Addr> = interfaces.iter().map(|(_, address)| *address).collect();
        network.allow_subflows("client", &addresses)?;
        network.allow_subflows(SERVERS[0], &[])?;
        let server = network.address(SERVERS[0])?;
        let begun = Instant::now();
        let bytes = network.namespace("client")?.enter(|| http::get(server))??;
        Ok((begun.elapsed().as_secs_f64(), bytes))
    }

    fn serve_http(&self, network: &LabNetwork) -> Result<(), Failed> {
        for server in SERVERS {
            network.namespace(server)?.enter(|| http::serve(Arc::clone(&self.bytes)))??;
        }
        Ok(())
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Servers answer through the router; what the client sends from an interface's address leaves by this interface.
fn route(network: &LabNetwork) -> Result<(), Failed> {
    for (server, device) in SERVERS.into_iter().zip(["near1", "near2"]) {
        ip(network, server, &["route", "add", "default", "dev", device])?;
    }
    for (index, (device, address)) in network.interfaces("client")?.into_iter().enumerate() {
        let (table, address) = ((100 + index).to_string(), address.to_string());
        let metric = (10 + index).to_string();
        ip(
            network,
            "client",
            &["route", "add", "default", "dev", &device, "src", &address, "metric", &metric],
        )?;
        ip(network, "client", &["route", "add", "default", "dev", &device, "table", &table])?;
        ip(network, "client", &["rule", "add", "from", &address, "table", &table])?;
    }
    // The way to the servers that the lab has laid begins at the client's own address, which is no interface's.
    for server in SERVERS {
        ip(network, "client", &["route", "del", &network.address(server)?.to_string()])?;
    }
    Ok(())
}

fn ip(network: &LabNetwork, node: &str, arguments: &[&str]) -> Result<(), Failed> {
    let mut command = Command::new("ip");
    command.args(arguments);
    network.namespace(node)?.host(&mut command);
    let output =
        command.output().map_err(|error| format!("ip cannot be started ({error}); install iproute2"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let problem = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("ip {} on {node}: {problem}", arguments.join(" ")).into())
        }
    }
}
