//! The commands and their flags.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory, Parser, Subcommand};

use super::assignments::Variables;
use super::flags::Flag;
use super::language::{Fmt, Get, Graph, Metadata, Modules};
use super::objects::{ImportArguments, Refresh, Taint};
use super::shared::{Locking, View};
use super::state::State;
use super::workspace::{ForceUnlock, Workspace};

/// Plans and builds infrastructure from configurations, state files and providers as Terraform has them.
#[derive(Debug, Parser)]
#[command(
    name = "groma",
    disable_help_subcommand = true,
    disable_version_flag = true,
    arg_required_else_help = true,
    after_help = "Before the command:\n  -chdir=DIR  Work in another directory\n  -help       Show this, or the help of a command\n  -version    The same as the command version"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub task: Task,
}

/// The parser, with help texts that speak of `program`.
pub fn command(program: &str) -> Command {
    Arguments::command().name(program.to_owned()).bin_name(program.to_owned())
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Get the directory ready: modules, providers, backend
    Init(Init),
    /// Check the configuration without looking at any object
    Validate(Validate),
    /// Show what an apply would do
    Plan(Plan),
    /// Make the objects match the configuration, or carry out a saved plan
    Apply(Apply),
    /// Delete every object that the configuration manages
    Destroy(Destroy),
    /// Show the state or a saved plan
    Show(Show),
    /// Show output values
    Output(Output),
    /// Look into the state, and change what it says
    #[command(subcommand)]
    State(State),
    /// Work with several states of one configuration
    #[command(subcommand)]
    Workspace(Workspace),
    /// The old name of workspace
    #[command(subcommand, hide = true)]
    Env(Workspace),
    /// Take away a lock that was left behind
    ForceUnlock(ForceUnlock),
    /// Take over an object that exists already
    Import(ImportArguments),
    /// Take into the state what has changed outside
    Refresh(Refresh),
    /// Have an object replaced by the next apply
    Taint(Taint),
    /// Take that back
    Untaint(Taint),
    /// Show what providers the configuration needs
    Providers(Providers),
    /// Fetch the modules that the configuration calls
    Get(Get),
    /// List the modules that the configuration calls
    Modules(Modules),
    /// Draw the resources and what they depend on
    Graph(Graph),
    /// Tell about the language
    #[command(subcommand)]
    Metadata(Metadata),
    /// Bring files into the canonical layout
    Fmt(Fmt),
    /// Evaluate expressions, one a line
    Console(Console),
    /// Show the version
    Version(Version),
    /// Use the emulator of the Cloud Control API
    #[command(subcommand)]
    Emulator(Emulator),
}

/// What to plan and how.
#[derive(Args, Clone, Debug)]
pub struct Planning {
    /// Plan to delete everything
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub destroy: Option<Flag>,
    /// Plan only to take in what has changed outside
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub refresh_only: Option<Flag>,
    /// -refresh=false takes the state for true instead of reading every object
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub refresh: Option<Flag>,
    /// Replace this instance although nothing else says so; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub replace: Vec<String>,
    /// Look only at this and what it depends on; may be given more than once
    #[arg(long, value_name = "ADDRESS")]
    pub target: Vec<String>,
    /// How many operations go on at once
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub parallelism: i64,
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// -input=false never asks
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub input: Option<Flag>,
    /// Print one JSON object a line
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
    /// The state file, in place of the backend's
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
}

/// Arguments of `init`.
#[derive(Args, Clone, Debug)]
pub struct Init {
    /// -backend=false leaves the backend alone
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub backend: Option<Flag>,
    /// A setting of the backend, or a file with settings
    #[arg(long, value_name = "FILE|NAME=VALUE")]
    pub backend_config: Vec<String>,
    /// -get=false leaves the modules alone
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub get: Option<Flag>,
    /// Take newer versions where constraints allow it
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub upgrade: Option<Flag>,
    /// Forget the previous backend
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub reconfigure: Option<Flag>,
    /// Move the state when the backend changes
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub migrate_state: Option<Flag>,
    /// Move the state without asking
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub force_copy: Option<Flag>,
    /// What may happen to the lock file: readonly
    #[arg(long, value_name = "MODE")]
    pub lockfile: Option<String>,
    /// A folder with provider packages
    #[arg(long, value_name = "DIR")]
    pub plugin_dir: Vec<PathBuf>,
    /// -input=false never asks
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub input: Option<Flag>,
    /// Print one JSON object a line
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// How the state is locked
    #[command(flatten)]
    pub locking: Locking,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
}

/// Arguments of `validate`.
#[derive(Args, Clone, Debug)]
pub struct Validate {
    /// Print the result as JSON
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
    /// Leave test files alone
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub no_tests: Option<Flag>,
    /// The folder with test files
    #[arg(long, value_name = "DIR")]
    pub test_directory: Option<PathBuf>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
}

/// Arguments of `plan`.
#[derive(Args, Clone, Debug)]
pub struct Plan {
    /// What to plan and how
    #[command(flatten)]
    pub planning: Planning,
    /// Save the plan for apply
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Exit with 2 when there is something to apply
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub detailed_exitcode: Option<Flag>,
    /// Nothing else may follow
    #[arg(hide = true)]
    pub rest: Vec<OsString>,
}

/// Arguments of `apply`.
#[derive(Args, Clone, Debug)]
pub struct Apply {
    /// What to plan and how
    #[command(flatten)]
    pub planning: Planning,
    /// Do not ask before changing anything
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub auto_approve: Option<Flag>,
    /// Where to keep the state as it was, or - for nowhere
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// Where to write the new state
    #[arg(long, value_name = "FILE")]
    pub state_out: Option<PathBuf>,
    /// A saved plan
    #[arg(value_name = "PLAN")]
    pub rest: Vec<OsString>,
}

/// Arguments of `destroy`.
#[derive(Args, Clone, Debug)]
pub struct Destroy {
    /// As for apply
    #[command(flatten)]
    pub apply: Apply,
}

/// Arguments of `show`.
#[derive(Args, Clone, Debug)]
pub struct Show {
    /// Print JSON
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// A saved plan or a state file
    #[arg(value_name = "FILE")]
    pub rest: Vec<OsString>,
}

/// Arguments of `output`.
#[derive(Args, Clone, Debug)]
pub struct Output {
    /// Print JSON
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
    /// Print the bare value of one output
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub raw: Option<Flag>,
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// Name of one output
    #[arg(value_name = "NAME")]
    pub rest: Vec<String>,
}

/// Arguments of `providers`.
#[derive(Args, Debug)]
pub struct Providers {
    /// A further command
    #[command(subcommand)]
    pub task: Option<ProvidersTask>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
}

/// Commands of `providers`.
#[derive(Debug, Subcommand)]
pub enum ProvidersTask {
    /// Write hashes of packages, for other platforms too, into the lock file
    Lock(ProvidersLock),
    /// Copy the packages that the configuration needs into a folder
    Mirror(ProvidersMirror),
    /// Print the schemas of the providers
    Schema(Schema),
}

/// Arguments of `providers lock`.
#[derive(Args, Clone, Debug)]
pub struct ProvidersLock {
    /// Take the packages from this folder
    #[arg(long, value_name = "DIR")]
    pub fs_mirror: Option<PathBuf>,
    /// Take the packages from this network mirror
    #[arg(long, value_name = "URL")]
    pub net_mirror: Option<String>,
    /// A platform such as linux_amd64; may be given several times
    #[arg(long, value_name = "OS_ARCH")]
    pub platform: Vec<String>,
    /// Use the plugin cache; hashes are taken from the sources all the same
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub enable_plugin_cache: Option<Flag>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// Only these providers
    #[arg(value_name = "PROVIDER")]
    pub rest: Vec<String>,
}

/// Arguments of `providers mirror`.
#[derive(Args, Clone, Debug)]
pub struct ProvidersMirror {
    /// A platform such as linux_amd64; may be given several times
    #[arg(long, value_name = "OS_ARCH")]
    pub platform: Vec<String>,
    /// -lock-file=false ignores the versions of the lock file
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub lock_file: Option<Flag>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
    /// Where the copies go
    #[arg(value_name = "DIR")]
    pub rest: Vec<PathBuf>,
}

/// Arguments of `providers schema`.
#[derive(Args, Clone, Debug)]
pub struct Schema {
    /// Print JSON; there is no other form
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
}

/// Arguments of `console`.
#[derive(Args, Clone, Debug)]
pub struct Console {
    /// Where the values of variables come from
    #[command(flatten)]
    pub variables: Variables,
    /// The state file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// How texts are shown
    #[command(flatten)]
    pub view: View,
}

/// Arguments of `version`.
#[derive(Args, Clone, Debug)]
pub struct Version {
    /// Print JSON
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<Flag>,
}

/// Commands of `emulator`.
#[derive(Debug, Subcommand)]
pub enum Emulator {
    /// Answer the Cloud Control API on a port
    Serve(EmulatorServe),
    /// List the objects of a type, or of all types
    List(EmulatorList),
    /// Show one object
    Get(EmulatorObject),
    /// Change one object, as somebody else would
    Patch(EmulatorPatch),
    /// Delete one object, as somebody else would
    Delete(EmulatorObject),
}

/// Where an emulator keeps its objects.
#[derive(Args, Clone, Debug)]
pub struct EmulatorData {
    /// The file that holds the objects
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// Arguments of `emulator serve`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorServe {
    /// Where the objects are
    #[command(flatten)]
    pub data: EmulatorData,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4599")]
    pub listen: String,
}

/// Arguments of `emulator list`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorList {
    /// Where the objects are
    #[command(flatten)]
    pub data: EmulatorData,
    /// A type such as AWS::S3::Bucket
    #[arg(value_name = "TYPE")]
    pub type_name: Option<String>,
}

/// Arguments of `emulator get` and `emulator delete`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorObject {
    /// Where the objects are
    #[command(flatten)]
    pub data: EmulatorData,
    /// A type such as AWS::S3::Bucket
    #[arg(value_name = "TYPE")]
    pub type_name: String,
    /// The primary identifier
    #[arg(value_name = "IDENTIFIER")]
    pub identifier: String,
}

/// Arguments of `emulator patch`.
#[derive(Args, Clone, Debug)]
pub struct EmulatorPatch {
    /// The object
    #[command(flatten)]
    pub object: EmulatorObject,
    /// A JSON Patch document (RFC 6902)
    #[arg(value_name = "PATCH")]
    pub patch: String,
}
