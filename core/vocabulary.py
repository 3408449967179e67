"""Word lists that question understanding and the guard on reuse share.

Lower case throughout. They hold general knowledge of the field, never of one product; a community
adds its own words by the glossary.
"""

from __future__ import annotations


def word_list(text: str) -> list[str]:
    """Split a list of words; long lists read better as text."""
    return text.split()


def word_groups(text: str) -> list[str]:
    """Split groups of words that semicolons part."""
    return [group.strip() for group in text.split(";")]


def _groups(text: str) -> dict[str, str]:
    """Map every word of a line to the line's first word; `~` stands for a space inside a word."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        spelled = [word.replace("~", " ") for word in line.split()]
        found.update((word, spelled[0]) for word in spelled)
    return found


# Names with several spellings, one name per line.
_ALIASES = _groups("""
postgresql postgres psql pg
kubernetes k8s kube kubectl
javascript js ecmascript
typescript ts
python py python2 python3 cpython
mongodb mongo
elasticsearch elastic
golang go
csharp c# c-sharp
cplusplus c++ cpp
dotnet .net net~core
nodejs node node.js
vue vuejs vue.js
react reactjs react.js
angular angularjs
jquery jquery.js
nextjs next.js
markdown md
microsoft~sql~server mssql sql~server
sqlite sqlite3
jinja jinja2
sqlalchemy sqla
beautifulsoup bs4
tensorflow tf
pytorch torch
scikit-learn sklearn
opencv cv2
rabbitmq amqp
macos osx mac~os os~x mac macbook
windows win10 win11 win
rhel red~hat redhat
iphone ios
facebook fb
google~drive gdrive
gmail google~mail
youtube yt
github gh
visual~studio~code vscode vs~code
powershell pwsh
oauth oauth2
websocket websockets ws
graphql gql
aws amazon~web~services
gcp google~cloud
azure ms~azure
letsencrypt let's~encrypt certbot
http https
ipv4 ip4
ipv6 ip6
firefox ff
internet~explorer ie
rest restful
yaml yml
jpeg jpg
""")

_NAMES = frozenset(
    word_list(
        """aiohttp airflow alembic alpine anaconda android angularjs ansible apache apt apt-get arch
        arduino argocd asgi asp astro asyncio asyncpg auth0 authlib autoconf babel backbone bash bazel
        bcrypt bigquery bitbucket blender bokeh bootstrap boto3 brew btrfs bulma bun caddy cassandra
        celery centos ceph cherrypy chmod chown chrome chromium circleci clang clickhouse clojure
        cloudflare cloudfront cmake cobol codemirror composer conda consul containerd cordova cors
        couchdb cpanel crontab csrf css csv cuda curl cython daphne dart datadog debian deno discord
        django docker dockerfile doctrine dovecot drupal duckdb dynamodb ec2 eclipse ecto electron
        elixir elm emacs envoy erlang eslint etcd eventlet excel ext4 fabric falcon fastapi fedora
        ffmpeg fargate firebase firestore flask flutter fortran freebsd ftp gatsby gcc gdb gentoo gevent
        gimp git gitea gitlab gnome godot gradle grafana groovy grpc grub gtk gunicorn hadoop haproxy
        haskell heroku hibernate hive html html5 htmx httpd httpie httpx hugo hypercorn iis imap
        influxdb iptables itsdangerous jaeger jasmine java jax jboss jekyll jenkins jest jetty jira
        joomla json jsp julia junit jupyter jwt kafka karma kde keras keycloak kibana kotlin kvm lambda
        laravel latex ldap less lighttpd linkedin linux lisp logstash lua lxc lxml lxd magento makefile
        mariadb markupsafe marshmallow matlab matplotlib maven memcached mercurial meson minikube minio
        mint mocha mod_wsgi mqtt mssql mypy mysql nagios nats neo4j neovim netbeans netlify nextcloud
        nfs nginx nixos nltk nomad notepad++ npm nuget numpy nuxt oidc okta opengl openapi openid
        openjdk openshift openssh openssl opensuse openvpn opera oracle orm outlook pandas passlib
        paypal pdf peewee perl php phpmyadmin pillow pip pipenv pipx playwright plotly pnpm podman
        poetry polars poppler postfix postman powerpoint preact prettier prisma prolog prometheus
        protobuf psycopg psycopg2 psycopg3 pubsub puppeteer pycharm pydantic pygame pyinstaller pyjwt
        pylint pymongo pymysql pypi pypy pyqt pyramid pyspark pyside pytest qemu qt quart rabbitmq
        racket rails raspbian raspberry redis redshift redux reddit regex rfc rollup rpm rsync rubygems
        ruby ruff rustc s3 safari saml samba sanic sass scala scipy scrapy scss selenium sendgrid sentry
        sftp sharepoint skype slack sles smtp snowflake snowpack soap solaris solr spacy sparql splunk
        spotify springboot sql ssh ssl starlette storybook streamlit subversion supabase supervisord
        svelte svg svn swagger sybase symfony systemd tailwind tailscale tcp tcp/ip terraform tkinter
        tls tmux tomcat tornado traefik travis trello twilio twitter twisted ubuntu udp ufw unittest
        uvicorn uvloop utf-8 utf8 vagrant varnish vercel vim virtualbox virtualenv vite vitest vmware
        vpn vuex waitress wayland webassembly webdav webpack weblogic websphere werkzeug whatsapp
        wireguard wireshark wordpress wsgi wsl wtforms wxpython xcode xml xmpp xunit yarn yum zabbix
        zigbee zookeeper zsh zstd gzip bzip2 tar zip rar 7zip png gif webp bmp tiff mp3 mp4 wav flac ogg
        avi mkv docx xlsx toml ini rst protobuf avro parquet"""
    )
)

# Names that are also plain English: they name software only where a version follows.
_NAMES_BEFORE_VERSIONS = frozenset(
    word_list(
        """access ajax atom babel black blinker bottle box click chef code dash ember express factory fiber
        firefox foundation gin go helm ide iron julia make marko mocha node office openssl pages phoenix
        poetry puppet r rack react requests rich rocket rust salt sails server shell sinatra spark
        spring sprite sublime swift teams thunder tox unity unicorn web windows word wheel setuptools
        attrs blueprint cookiecutter kernel jdk jre jvm glibc libc api app application model protocol
        schema spec specification es ecma lgpl gpl license licence interpreter client driver plugin
        extension wrapper browser edge opera tools sdk cli library lib package module"""
    )
)

SOFTWARE: dict[str, str] = {**{name: name for name in _NAMES}, **_ALIASES}
"""Spellings of software, formats, protocols and services, each to one canonical spelling."""

BEFORE_VERSIONS = _NAMES_BEFORE_VERSIONS | SOFTWARE.keys()
"""Words after which a version is another product's."""

UNITS: dict[str, str] = _groups("""
b byte bytes
kb kilobyte kilobytes kib
mb megabyte megabytes mib meg megs
gb gigabyte gigabytes gib gig gigs
tb terabyte terabytes tib
ms millisecond milliseconds msec msecs
s sec secs second seconds
min mins minute minutes
h hr hrs hour hours
d day days
week weeks
month months
year years yr yrs
px pixel pixels
pt point points
em rem
% percent pct
hz khz mhz ghz
k thousand
million m mio
usd $ dollar dollars bucks
eur euro euros
x times
kg kilogram kilograms
cm centimeter centimetre
mm millimeter millimetre
km kilometer kilometre
mph
bit bits
char chars character characters
row rows
column columns
line lines
item items
user users
request requests
worker workers
thread threads
core cores cpu cpus
digit digits
""")
"""Units after a number, each to one spelling."""

NUMBER_WORDS: dict[str, str] = {
    word: digits
    for word, _, digits in (
        pair.partition("=")
        for pair in word_list(
            """one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12
            zero=0 single=1 double=2 twice=2 twenty=20 fifty=50 hundred=100 thousand=1000"""
        )
    )
}
"""Numbers in words, to digits."""

NEGATIONS = frozenset(
    word_list(
        """not no never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt wont
        isnt arent wasnt werent wouldnt shouldnt couldnt havent hasnt hadnt unable lacks lacking except"""
    )
)
"""Words that turn a statement around; words in `n't` count as well."""

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in word_groups(
        """enable activate active on engage; disable deactivate off inactive; remove delete erase clear
        flush empty purge wipe rid discard eliminate drop cancel del deletion removal; add insert append put
        attach include introduce provide place; create make build generate produce construct new
        creation write define; change modify edit alter adjust customize update switch convert
        transform set configure define regulate replace; update upgrade renew refresh; install setup;
        show display view see list print output visible appear preview; find locate search look get
        obtain retrieve fetch access read check discover seek detect; hide conceal hidden invisible
        disappear; stop halt quit exit end terminate kill shutdown finish abort close; stop prevent
        avoid suppress silence protect against keep restrict limit block ignore; start launch begin boot
        run execute open fire; restart reboot reload relaunch; fix solve resolve repair correct
        troubleshoot deal handle overcome recover restore; error exception failure problem issue trouble
        fault bug crash fail broken wrong; fast quick speed faster quickly rapid performance; slow
        slowly long slower; large big huge larger bigger size; small little tiny smaller; allow permit
        enable let; deny reject refuse forbid disallow; choose pick select decide; undo revert rollback
        rolled; store save keep kept put archive; send return deliver pass submit give post; load read
        import parse get; combine join merge concatenate link together; split break divide separate
        individual; organize structure arrange lay layout sort order schedule plan; required mandatory
        necessary must compulsory need; optional voluntary; copy duplicate clone replicate; move
        transfer migrate port; rename name; before prior earlier; after following afterwards later; each
        every all any; different other another differ difference; folder directory dir; picture photo
        image pic photograph img; website site webpage page web; computer pc machine laptop desktop;
        phone smartphone mobile cellphone cell; app application program software tool; account profile
        acc; password passphrase passwd; message msg sms text chat conversation; mail email e-mail
        inbox; film movie video clip; font typeface; background backdrop wallpaper; friend contact buddy
        pal; contact touch reach communicate; secure safe security protect; buy purchase; explain
        describe meaning mean definition stand; internet net online; repo repository; config
        configuration setting; auth authentication authenticate login; param parameter argument arg;
        func function; var variable; env environment; db database; doc documentation document; dev
        development; prod production; admin administrator; max maximum limit cap; min minimum; async
        asynchronous asynchronously; sync synchronous synchronously synchronize; info information data
        details; own custom specific personal; color colour; text string; kid child children; car auto
        vehicle; advise suggest recommend recommendation tip; support supported compatible work works;
        type kind sort; use usage apply employ utilize; number amount count; several multiple many
        various; entire whole complete full completely; automatically automatic auto automated;
        permanently permanent forever completely; point place spot location position; area region
        section part; advantage benefit good pro argument; measure calculate determine compute; hash
        digest; tell check know determine find whether; draw paint sketch; listen hear play; talk speak
        chat; watch view see look; block restrict filter; share publish post; follow track watch
        monitor; notify notification alert inform notice; register signup join enroll; access view open
        reach see; visit go open; quote cite; cross strike strikethrough striked; letter character char;
        user person people someone member; return result yield; shorten reduce decrease; wait delay
        pause sleep; feature function option functionality; client customer; document file; hour hourly;
        day daily; week weekly; month monthly; year yearly annual; forget forgot forgotten lost; choose
        define specify set; hang freeze stuck; extract unpack
        decompress unzip"""
    )
)
"""Words of which one may stand for the other in a question; a word may be in several lines."""

RIVALS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in word_groups(
        """table column row index trigger schema view constraint partition sequence; user role group
        permission team; request response header cookie session body; query path form; second minute
        hour day week month year; hourly daily weekly monthly yearly; monday tuesday wednesday thursday
        friday saturday sunday; class function method interface module package decorator enum; string
        integer float boolean dict array tuple number; blueprint template filter handler command
        extension route signal middleware; commit branch tag stash remote submodule; merge rebase squash
        cherry-pick; image video audio; background border margin padding shadow outline; title footer
        header sidebar navbar menu; browser terminal shell console; password username email; red green
        blue yellow black white; inner outer left right cross; email postal phone; development staging
        testing production; client server proxy; unit integration; post comment story; thread process
        coroutine; volume image container pod; disk memory cpu network; text binary; name date size type
        id; domain subdomain host port; width height depth; certificate key token; desktop mobile"""
    )
)
"""Words of one kind: where two questions differ in them, they ask about different things."""

OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(left.split()), frozenset(right.split()))
    for left, _, right in (
        line.partition("|")
        for line in word_groups(
            """enable activate on|disable deactivate off; add insert create install invite|remove delete
        uninstall erase drop kick ban; show display appear reveal unhide|hide conceal disappear rid
        remove; before|after; upgrade|downgrade; update|rollback revert; allow permit unblock accept
        whitelist enable|deny forbid block reject refuse prevent blacklist ban disallow disable;
        block|unblock; start launch begin boot|stop halt quit shutdown terminate kill; encode|decode;
        encrypt|decrypt; serialize dump|deserialize load; import|export; upload|download; input|output;
        read|write; reader|writer; client|server; min minimum|max maximum; local|remote global; dev
        development debug test staging|prod production; sync synchronous|async asynchronous;
        public|private; push|pull; open|close; login signin|logout signout; lock|unlock;
        subscribe|unsubscribe; mute|unmute; pin|unpin; first|last; oldest|newest latest; old|new;
        left|right; up|down; top|bottom; inner inside|outer outside; horizontal horizontally|vertical
        vertically; ascending asc|descending desc; increase raise higher more|decrease reduce lower
        less; expand|collapse; attach|detach; mount|unmount umount; compress zip pack|decompress unzip
        extract unpack; previous prior former|current present; previous prior|next upcoming;
        commit|rollback; grant|revoke; throw raise|catch; archive|restore unarchive;
        backup|restore; save|load; send|receive; merge join combine|split divide; connect|disconnect;
        required mandatory|optional; internal|external; inbound incoming|outbound outgoing;
        ingress|egress; manual manually|automatic automatically; static|dynamic; parent|child;
        source|target destination; row|column; width|height; online|offline; temporary
        temporarily|permanent permanently; soft|hard; shallow|deep; single one|multiple many; longest
        longer long maximum|shortest shorter short minimum; largest larger large bigger|smallest smaller
        small; fast faster|slow slower; sleep|wake; frontend|backend; front|back; upstream|downstream;
        primary|secondary foreign replica; forward|reverse backward; positive|negative;
        absolute|relative; mutable|immutable; default|custom; light|dark; free|paid; true|false;
        even|odd; buy|sell; request|response; key|value; read-only readonly|read-write readwrite
        writable; unread|read; stdin|stdout stderr; positional|keyword; normal regular|super superuser
        admin; empty|full; always|never; both|either; lowercase lower|uppercase upper; begin
        beginning|end; increment|decrement; minimize|maximize; follow|unfollow; sign|unsign verify;
        child children|parent parents; success|failure; inclusive including include|exclusive excluding
        exclude; master|slave; plus|minus; indent|dedent unindent; tab tabs|space spaces; win|lose;
        float|int integer; vm|container; bottleneck|speedup; cold|hot warm; early eager|late lazy"""
        )
    )
)
"""Words of which one question may not have the left and the other the right."""
