//! Arguments of `serve` and `fetch`.
use clap::Args;
use prismux_fetch::digest::Digest;
use prismux_fetch::fetch::{Transport, Via, share};
use prismux_fetch::url::{DEFAULT_PORT, Url, parse_cost};
use prismux_r2cp::policy::Cost;
use prismux_units::{ByteCount, Duration, Rate};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The folder whose files are served; nothing outside it is, also not through symbolic links.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Address and port to listen at; may be given several times [default: [::]:4717 or, without IPv6, 0.0.0.0:4717].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Vec<SocketAddr>,
    /// The file with the server's secret key; made when it is not there
    /// [default: prismux/server.key below $XDG_CONFIG_HOME or ~/.config].
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// No client gets more than this.
    #[arg(long, value_name = "RATE")]
    pub cap: Option<Rate>,
    /// Most clients at a time; others are told to come back.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub clients: usize,
    /// Say this often what was served.
    #[arg(long, value_name = "TIME", default_value = "60 s")]
    pub report: Duration,
    /// Print JSON: the URLs at the start, counters at every report and at the end, one object on a line.
    #[arg(long)]
    pub json: bool,
}

impl ServeArguments {
    /// Where to listen.
    pub fn listen(&self) -> Vec<SocketAddr> {
        if !self.listen.is_empty() {
            return self.listen.clone();
        }
        vec![SocketAddr::new(any_address(), DEFAULT_PORT)]
    }
}

#[derive(Debug, Args)]
pub(crate) struct FetchArguments {
    /// What to fetch, as `prismux serve` prints it; several URLs are several servers of the same file. A URL may end in
    /// #via=NAME,cost=COST: this server over these interfaces only, at this cost beyond theirs.
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<Url>,
    /// r2cp: the client asks, also from several servers; ptcp: one server sends, over a pipe for each interface.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub transport: Transport,
    /// Interfaces or source addresses to use side by side [default: as the routing table says].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub via: Vec<Via>,
    /// What an interface costs: low (0), high (1) or a number; dearer ones carry only what cheaper ones cannot (r2cp).
    #[arg(long, value_name = "NAME=COST", value_delimiter = ',', value_parser = parse_interface_cost)]
    pub cost: Vec<(Via, Cost)>,
    /// Most bytes asked for or received out of order [default: 32 MiB]; they lie on disk.
    #[arg(long, value_name = "SIZE")]
    pub window: Option<ByteCount>,
    /// Obey orders from this file or named pipe (- for the input), one on a line: `use URL`, `close NAME...`.
    #[arg(long, value_name = "FILE")]
    pub orders: Option<PathBuf>,
    /// Write how it goes to this file (- for the output) as JSON, one object on a line.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// At most one line of the trace in this time.
    #[arg(long, value_name = "TIME", default_value = "100 ms", requires = "trace")]
    pub trace_every: Duration,
    /// Fetch at this rate and no faster (r2cp).
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Rate>,
    /// Where the file goes [default: the last part of the URL, in the current folder].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The digest that the file must have; otherwise the first server that answers says what it is.
    #[arg(long, value_name = "HEX")]
    pub sha256: Option<Digest>,
    /// The file may have no more bytes than this; servers that offer more are not used.
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<ByteCount>,
    /// Replace a file that is there.
    #[arg(long)]
    pub overwrite: bool,
    /// Forget what an interrupted fetch has received.
    #[arg(long)]
    pub restart: bool,
    /// Give up when nothing has come for this long.
    #[arg(long, value_name = "TIME", default_value = "60 s")]
    pub give_up: Duration,
    /// Share the file with neighbours that fetch it too and hold the secret in this file, 16 characters or more: each
    /// takes a part from the server, and gives it to the others (r2cp).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["orders", "trace", "rate", "window"])]
    pub share: Option<PathBuf>,
    /// Where neighbours are; the port is 4718 unless said. One of two that know the other is enough.
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',', value_parser = parse_neighbour, requires = "share")]
    pub neighbours: Vec<SocketAddr>,
    /// Where neighbours find this host [default: [::]:4718 or, without IPv6, 0.0.0.0:4718].
    #[arg(long, value_name = "ADDRESS:PORT", requires = "share")]
    pub share_at: Option<SocketAddr>,
    /// Having everything, give to neighbours that have not for so long at most.
    #[arg(long, value_name = "TIME", default_value = "60 s", requires = "share")]
    pub stay: Duration,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

impl FetchArguments {
    /// Where to listen for neighbours.
    pub fn share_at(&self) -> SocketAddr {
        self.share_at.unwrap_or_else(|| SocketAddr::new(any_address(), share::DEFAULT_PORT))
    }
}

/// The address that stands for all of this host's.
fn any_address() -> IpAddr {
    let has_ipv6 = std::net::UdpSocket::bind("[::]:0").is_ok();
    if has_ipv6 { [0u16; 8].into() } else { [0u8; 4].into() }
}

fn parse_neighbour(text: &str) -> Result<SocketAddr, String> {
    let alone = || text.parse().map(|address: IpAddr| SocketAddr::new(address, share::DEFAULT_PORT));
    text.parse().or_else(|_| alone()).map_err(|_| {
        format!(
            "\"{text}\" is no address; a neighbour looks like 192.168.7.2, 192.168.7.2:4718 or [fd00::2]:4718"
        )
    })
}

fn parse_interface_cost(text: &str) -> Result<(Via, Cost), String> {
    let (name, cost) =
        text.split_once('=').ok_or_else(|| format!("\"{text}\" is no cost; it looks like wwan0=high"))?;
    Ok((name.parse()?, parse_cost(cost)?))
}
