# LemonLDAP::NG's portal with the run's users, and the files that its pages load.
use strict;
use warnings;
use JSON qw(decode_json);
use Plack::Builder;
use Starman::Server;
use Lemonldap::NG::Portal::Main;
use Lemonldap::NG::Portal::UserDB::Demo;

open my $file, '<', $ENV{INTEROP_USERS} or die "$ENV{INTEROP_USERS}: $!";
my $users = decode_json( join '', <$file> );
%Lemonldap::NG::Portal::UserDB::Demo::demoAccounts = %{ $users->{accounts} };
%Lemonldap::NG::Portal::UserDB::Demo::demoGroups   = %{ $users->{groups} };

# Otherwise, Starman's workers outlive a run that is interrupted. prctl(2): 1 is PR_SET_PDEATHSIG.
require 'syscall.ph';
my $init = \&Starman::Server::child_init_hook;
{
    no warnings 'redefine';
    *Starman::Server::child_init_hook = sub { syscall( &SYS_prctl, 1, 9 ); $init->(@_) };
}

builder {
    # With this line, the run counts the token requests.
    enable 'AccessLog', format => '%m %U';
    enable 'Static',
        path => qr{^/static/},
        root => '/usr/share/lemonldap-ng/portal/htdocs/';
    enable 'Static', path => qr{^/javascript/}, root => '/usr/share/';
    Lemonldap::NG::Portal::Main->run( {} );
};
