"""Names of software, formats, protocols and services."""

from __future__ import annotations

from core.vocabulary.written import spellings, word_list

# Names with several spellings, one name per line.
_ALIASES = spellings("""
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
